"use strict";
(function () {
  const FIELDS = [["title", 8], ["tags", 5], ["text", 1]];
  const ENOUGH = 0.5; // of what a question says, by weight
  const CJK = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]$/u;

  function fold(text) {
    return text.normalize("NFKC").toLowerCase();
  }

  // Words as they are, runs of Chinese, Japanese and Korean as pairs of characters.
  function terms(question) {
    const found = new Set();
    for (const word of fold(question).match(/[\p{L}\p{M}\p{N}_]+/gu) || []) {
      let run = [];
      let plain = "";
      for (const character of [...word, ""]) {
        if (CJK.test(character)) {
          run.push(character);
        } else {
          pairs(run).forEach((pair) => found.add(pair));
          run = [];
        }
        if (character && !CJK.test(character)) {
          plain += character;
        } else if (plain) {
          found.add(plain);
          plain = "";
        }
      }
    }
    return [...found];
  }

  function pairs(run) {
    return run.length < 2 ? run : run.slice(1).map((character, at) => run[at] + character);
  }

  // How well a text holds a term: 1 where a word begins with it, less within one, else 0.
  function held(text, term) {
    let at = text.indexOf(term);
    const first = at;
    while (at >= 0 && at < text.length) {
      const before = at ? text[at - 1] : " ";
      if (CJK.test([...term][0]) || !/[\p{L}\p{N}]/u.test(before)) return 1;
      at = text.indexOf(term, at + 1);
    }
    return first < 0 ? 0 : 0.3;
  }

  function prepare(notes) {
    return notes.map((note) => ({
      note,
      title: fold(note.title),
      tags: fold([note.type, ...note.tags].join(" ")),
      text: fold(note.text),
    }));
  }

  // Return the notes that hold at least half of a question, best first.
  function find(prepared, question) {
    const asked = terms(question);
    if (!asked.length) return [];
    const scores = prepared.map((one) =>
      asked.map((term) => Math.max(...FIELDS.map(([field, worth]) => worth * held(one[field], term))))
    );
    const weights = asked.map((_, at) => {
      const count = scores.filter((score) => score[at]).length;
      return Math.log(1 + (prepared.length + 1) / (count + 0.5));
    });
    const whole = weights.reduce((sum, weight) => sum + weight, 0);
    const hits = prepared.map((one, place) => {
      const share = weights.reduce((sum, w, at) => sum + (scores[place][at] ? w : 0), 0) / whole;
      const score = weights.reduce((sum, w, at) => sum + w * scores[place][at], 0);
      return { note: one.note, place, share, score: share * score };
    });
    return hits
      .filter((hit) => hit.share >= ENOUGH)
      .sort((a, b) => b.score - a.score || a.place - b.place);
  }

  // Return the part of a text around the first of some terms, in pieces: [text, is a term].
  function excerpt(text, asked) {
    const plain = text.normalize("NFKC");
    const lower = plain.toLowerCase();
    if (lower.length !== plain.length) return [[plain.slice(0, 160), false]];
    const places = asked.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
    const start = Math.max(0, Math.min(...places, plain.length) - 50);
    const from = places.length ? start : 0;
    const end = Math.min(plain.length, from + 160);
    const pieces = [];
    let at = from;
    let rest = from;
    while (at < end) {
      const term = asked.find((one) => lower.startsWith(one, at));
      if (term) {
        pieces.push([plain.slice(rest, at), false], [plain.slice(at, at + term.length), true]);
        at = rest = at + term.length;
      } else {
        at += 1;
      }
    }
    pieces.push([plain.slice(rest, Math.max(rest, end)), false]);
    if (from) pieces.unshift(["… ", false]);
    if (end < plain.length) pieces.push([" …", false]);
    return pieces.filter(([piece]) => piece);
  }

  function item(hit, asked) {
    const line = document.createElement("li");
    const link = document.createElement("a");
    link.href = hit.note.href;
    link.textContent = hit.note.title;
    const about = document.createElement("span");
    about.className = "about";
    about.textContent = [hit.note.type, hit.note.date].filter(Boolean).join(" · ");
    const said = document.createElement("p");
    for (const [piece, marked] of excerpt(hit.note.text, asked)) {
      const part = document.createElement(marked ? "mark" : "span");
      part.textContent = piece;
      said.append(part);
    }
    line.append(link, " ", about, said);
    return line;
  }

  function attach() {
    const field = document.getElementById("question");
    const list = document.getElementById("hits");
    const told = document.getElementById("told");
    const prepared = prepare(JSON.parse(document.getElementById("notes").textContent));
    const show = () => {
      const hits = find(prepared, field.value);
      const asked = terms(field.value);
      list.replaceChildren(...hits.slice(0, 50).map((hit) => item(hit, asked)));
      told.textContent = asked.length ? told.dataset.told.replace("{}", String(hits.length)) : "";
    };
    field.addEventListener("input", show);
    document.getElementById("search").hidden = false;
    if (field.value) show();
  }

  if (typeof module !== "undefined") {
    module.exports = { terms, prepare, find, excerpt };
  } else {
    attach();
  }
})();
