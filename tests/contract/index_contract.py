"""What "an index" means; each backend's test subclasses this with one fixture."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from math import exp

import numpy as np
import pytest

from memorix.chunks import split
from memorix.index.base import Drop, Embedded, Index, Put, Rename, Touch
from memorix.lexemes import query_terms
from memorix.note import digest, format_time, parse
from memorix.query import Filter, Match
from memorix.reconcile import Seen
from memorix.usage import USED_WITHIN, Shown, Total, Use

NOW = datetime(2026, 10, 1, tzinfo=UTC)
ALL = Filter()
MODEL = "model-1"
ANY: frozenset[str] = frozenset()
TWO = "The port is open for all.\n- The colour is green, as grass is."


def put(
    name: str, text: str, scope: str = "user", etag: str = "e1", held: str = "", **meta: str
) -> Put:
    block = "".join(f"{key}: {value}\n" for key, value in meta.items())
    content = f"---\n{block}---\n{text}" if block else text
    note = parse(content.encode(), f"{scope}/{name}.md")
    seen = Seen("1-1000000000-1-1", etag)
    return Put(note, scope, seen, split(note.title, note.body), held=held)


def vector(*values: float) -> bytes:
    row = np.zeros(8, dtype=np.float32)
    row[: len(values)] = values
    return bytes((row / np.linalg.norm(row)).tobytes())


class IndexContract:
    def words(
        self, index: Index, question: str, wanted: Filter = ALL, limit: int = 10
    ) -> list[str]:
        found = index.match_words(query_terms(question), wanted, NOW, limit)
        return self.paths(index, found)

    def near(self, index: Index, row: bytes, wanted: Filter = ALL, limit: int = 10) -> list[str]:
        return self.paths(index, index.match_vector(row, MODEL, wanted, NOW, limit))

    @staticmethod
    def paths(index: Index, found: list[Match]) -> list[str]:
        rows = index.rows(match.note for match in found)
        return [rows[match.note].path.split("/")[-1].removesuffix(".md") for match in found]

    @staticmethod
    def give_vectors(index: Index, *rows: bytes) -> None:
        """Give the pending texts these vectors, in the order of the texts."""
        pending = sorted(index.pending(MODEL, ANY, 100), key=lambda item: item.text)
        made = [Embedded(item.hash, row) for item, row in zip(pending, rows, strict=True)]
        index.keep_vectors(MODEL, made)

    def test_what_is_put_is_listed_and_found(self, index: Index) -> None:
        index.apply([put("a", "the gateway port"), put("b", "the lantern")])

        assert set(index.listing()) == {"user/a.md", "user/b.md"}
        assert self.words(index, "gateway") == ["a"]

    def test_a_new_version_takes_the_place_of_the_old(self, index: Index) -> None:
        for etag, text in (("e1", "quokka"), ("e2", "wombat"), ("e3", "numbat")):
            index.apply([put("a", text, etag=etag)])

        assert self.words(index, "quokka wombat") == []
        assert self.words(index, "numbat") == ["a"]
        assert index.listing()["user/a.md"].etag == "e3"

    def test_a_failed_batch_leaves_no_trace(self, index: Index) -> None:
        def changes() -> Iterator[Put]:
            yield put("a", "x")
            raise ZeroDivisionError

        with suppress(ZeroDivisionError):
            index.apply(changes())

        assert index.listing() == {}

    def test_a_query_is_words_not_a_language(self, index: Index) -> None:
        index.apply([put("a", 'say "NEAR" (or) not')])

        for text in ['"', "NEAR(", "a AND", "-x", "*", "col:x", "", "\0", "{a} : b"]:
            index.match_words(query_terms(text), ALL, NOW, 5)

    def test_a_dropped_note_is_found_by_nothing(self, index: Index) -> None:
        index.apply([put("a", "the gateway", tags="[x]")])
        self.give_vectors(index, vector(1))

        index.apply([Drop("user/a.md")])

        assert self.words(index, "gateway") == []
        assert self.near(index, vector(1)) == []
        assert index.find("user/a") is None
        assert index.counts(MODEL, ANY).chunks == 0

    def test_a_renamed_note_keeps_its_id_and_vectors(self, index: Index) -> None:
        index.apply([put("a", "the gateway", id="X1")])
        self.give_vectors(index, vector(1))

        index.apply([Rename("user/a.md", "user/b.md", "user", Seen("s", "e1"))])

        row = index.find("X1")
        assert row is not None
        assert row.path == "user/b.md"
        assert self.near(index, vector(1)) == ["b"]
        assert index.pending(MODEL, ANY, 10) == []

    def test_a_renamed_note_is_linked_to_by_its_new_path_and_still_by_its_title(
        self, index: Index
    ) -> None:
        index.apply([put("old/gate", "x", title="gate"), put("by-title", "See [[gate]].")])
        index.apply([put("by-path", "See [[new/door]]."), put("stale", "See [[old/gate]].")])

        index.apply([Rename("user/old/gate.md", "user/new/door.md", "user", Seen("s", "e1"))])

        row = index.find("user/new/door")
        assert row is not None
        sources = index.rows(link.note for link in index.incoming(row.key))
        assert {source.path for source in sources.values()} == {
            "user/by-title.md", "user/by-path.md",
        }  # fmt: skip
        assert index.find("user/old/gate") is None

    def test_a_note_renamed_into_another_scope_is_found_in_that_one_alone(
        self, index: Index
    ) -> None:
        index.apply([put("a", "the gateway", id="X1"), put("b", "the lantern")])
        self.give_vectors(index, vector(1), vector(0, 1))

        index.apply([Rename("user/a.md", "projects/app/a.md", "app", Seen("s", "e1"))])

        there, here = Filter(scopes=("app",)), Filter(scopes=("user",))
        assert self.words(index, "gateway", there) == self.near(index, vector(1), there) == ["a"]
        assert self.words(index, "gateway", here) == []
        assert self.near(index, vector(1), here) == ["b"]
        assert index.counts(MODEL, ANY).by_scope == {"app": 1, "user": 1}

    def test_a_renamed_note_takes_no_id_that_another_has(self, index: Index) -> None:
        index.apply([put("a", "x"), put("other", "y", id="user/b")])

        index.apply([Rename("user/a.md", "user/b.md", "user", Seen("s", "e1"))])

        taken = index.find("user/b")
        assert taken is not None
        assert taken.path == "user/other.md"
        assert set(index.listing()) == {"user/b.md", "user/other.md"}

    def test_a_touched_note_has_its_new_signature(self, index: Index) -> None:
        index.apply([put("a", "x")])
        index.apply([Touch("user/a.md", Seen("new", "e1"))])

        assert index.listing()["user/a.md"].signature == "new"

    def test_the_nearest_vector_comes_first_within_the_scopes_asked(self, index: Index) -> None:
        index.apply([put("a", "aaa"), put("b", "bbb"), put("c", "ccc", scope="app")])
        self.give_vectors(index, vector(1), vector(1, 1), vector(0, 1))

        assert self.near(index, vector(0, 1)) == ["c", "b", "a"]
        assert self.near(index, vector(0, 1), Filter(scopes=("user",))) == ["b", "a"]
        assert self.near(index, vector(0, 1), limit=1) == ["c"]

    def test_what_the_nearest_of_two_sentences_gains_by_chance_is_told(self, index: Index) -> None:
        index.apply([put("a", TWO), put("b", "aaa")])
        said = vector(0, 1) + vector(0.2, 0.98)
        long, short = sorted(index.pending(MODEL, ANY, 9), key=lambda item: -len(item.sentences))
        made = [Embedded(long.hash, vector(0, 1), said), Embedded(short.hash, vector(0.1, 0.995))]
        index.keep_vectors(MODEL, made)

        found = index.match_vector(vector(1), MODEL, ALL, NOW, 5)

        assert [match.chance for match in found] == pytest.approx([0, 0.016], abs=1e-6)
        assert [match.score for match in found] == pytest.approx([0.1, 0.1], abs=0.002)

    def test_cosines_are_exact(self, index: Index) -> None:
        index.apply([put("a", "aaa")])
        self.give_vectors(index, vector(3, 4))

        found = index.match_vector(vector(1), MODEL, ALL, NOW, 5)

        assert found[0].score == pytest.approx(0.6, abs=1e-5)

    @pytest.mark.parametrize("limit", [0, 1, 5000])
    def test_any_limit_is_answered(self, index: Index, limit: int) -> None:
        index.apply([put("a", "gateway")])
        self.give_vectors(index, vector(1))

        assert len(self.near(index, vector(1), limit=limit)) <= 1
        assert len(self.words(index, "gateway", limit=limit)) == min(limit, 1)

    def test_vectors_are_shared_by_content_and_rows_are_not(self, index: Index) -> None:
        index.apply([put("a", "# T\n\nsame"), put("b", "# T\n\nsame")])
        self.give_vectors(index, vector(1))

        assert sorted(self.near(index, vector(1))) == ["a", "b"]

    def test_vectors_of_another_model_are_never_compared(self, index: Index) -> None:
        index.apply([put("a", "aaa")])
        self.give_vectors(index, vector(1))

        assert index.match_vector(vector(1), "model-2", ALL, NOW, 5) == []
        assert len(index.pending("model-2", ANY, 10)) == 1

    def test_a_text_in_a_language_the_model_lacks_waits_for_no_vector(self, index: Index) -> None:
        index.apply([put("a", "网关的端口是八四四三"), put("b", "the gateway")])

        assert len(index.pending(MODEL, frozenset({"en"}), 10)) == 1
        assert index.counts(MODEL, frozenset({"en"})).pending == 1

    def test_kept_vectors_survive_a_rebuild(self, index: Index) -> None:
        index.apply([put("a", "aaa")])
        self.give_vectors(index, vector(1))

        index.clear()
        index.apply([put("a", "aaa")])

        assert index.pending(MODEL, ANY, 10) == []
        assert self.near(index, vector(1)) == ["a"]

    def test_a_chunk_is_found_by_the_one_sentence_that_is_meant(self, index: Index) -> None:
        index.apply([put("a", TWO), put("b", "Of neither."), put("c", "Nor of these.")])
        two, nor, neither = sorted(index.pending(MODEL, ANY, 9), key=lambda one: -len(one.text))
        index.keep_vectors(MODEL, [Embedded(two.hash, vector(1, 1), vector(1) + vector(0, 1))])
        index.keep_vectors(
            MODEL, [Embedded(nor.hash, vector(3, 2)), Embedded(neither.hash, vector(1, 2))]
        )

        found = index.match_vector(vector(1), MODEL, ALL, NOW, 9)

        assert two.sentences == tuple(TWO.splitlines())
        assert self.paths(index, found) == ["a", "c", "b"]
        assert [round(match.score, 2) for match in found] == [0.85, 0.83, 0.45]

    def test_a_filter_that_drops_the_best_does_not_empty_the_answer(self, index: Index) -> None:
        old = [put(f"old{n}", "gateway gateway", status="deprecated") for n in range(40)]
        index.apply([*old, put("new", "a long text that names the gateway once")])
        self.give_vectors(index, *[vector(1)] * len(index.pending(MODEL, ANY, 100)))

        assert self.words(index, "gateway", limit=2) == ["new"]
        assert self.near(index, vector(1), limit=2) == ["new"]

    def test_a_note_held_back_is_returned_only_where_its_reason_is_asked_for(
        self, index: Index
    ) -> None:
        index.apply([put("a", "gateway"), put("b", "gateway", held="inbox")])
        index.apply([put("c", "gateway", held="secret", status="deprecated")])
        self.give_vectors(index, *[vector(1)] * len(index.pending(MODEL, ANY, 9)))

        for wanted, names in (
            (ALL, ["a"]),
            (Filter(everything=True), ["a"]),
            (Filter(held=("inbox",)), ["b"]),
            (Filter(held=("secret",)), []),
            (Filter(held=("", "secret"), everything=True), ["a", "c"]),
            (Filter(held=(), everything=True), ["a", "b", "c"]),
        ):
            assert sorted(self.words(index, "gateway", wanted)) == names
            assert sorted(self.near(index, vector(1), wanted)) == names
            assert sorted(row.path[5:-3] for row in index.latest(wanted, NOW, 9)) == names

    def test_all_notes_with_one_text_are_told_those_in_the_inbox_last(self, index: Index) -> None:
        index.apply([put("a", "the gateway", held="inbox"), put("c", "the lamp")])
        index.apply([put("b", "the gateway", held="private")])

        found = index.same_text(digest("the gateway"), "user")

        assert [(row.path, row.held) for row in found] == [
            ("user/b.md", "private"),
            ("user/a.md", "inbox"),
        ]
        assert not index.same_text(digest("the gateway"), "app")

    def test_frequencies_count_chunks(self, index: Index) -> None:
        index.apply([put("a", "gateway lamp"), put("b", "gateway")])

        assert index.frequencies(["gateway", "lamp", "none"]) == ({"gateway": 2, "lamp": 1}, 2)

    def test_frequencies_of_a_scope_count_nothing_of_others_and_nothing_held(
        self, index: Index
    ) -> None:
        index.apply([put("a", "gateway lamp"), put("b", "gateway", scope="app")])
        index.apply([put("c", "gateway", held="secret")])

        assert index.frequencies(["gateway", "lamp"], ["app"]) == ({"gateway": 1}, 1)
        assert index.frequencies(["gateway"], ["user"]) == ({"gateway": 1}, 1)

    def test_notes_that_pass_a_filter_are_counted(self, index: Index) -> None:
        index.apply([put("a", "gateway"), put("b", "lamp", scope="app")])

        assert index.count(Filter(), NOW) == 2
        assert index.count(Filter(scopes=("app",)), NOW) == 1

    def test_holders_of_a_word_are_looked_up_no_further_than_asked(self, index: Index) -> None:
        index.apply([put(f"n{number}", "gateway") for number in range(5)])
        index.apply([put("lamp", "a lamp")])

        found = index.holding(["gateway", "lamp", "none"], 3)

        assert [len(chunks) for chunks in found] == [3, 1, 0]
        assert index.holding([], 3) == []

    def test_owners_come_best_first_and_only_those_the_filter_lets_through(
        self, index: Index
    ) -> None:
        index.apply([put("a", "gateway"), put("b", "gateway", status="deprecated")])
        index.apply([put("c", "gateway")])
        chunks = index.holding(["gateway"], 9)[0]

        found = index.owners({chunk: float(chunk) for chunk in chunks}, ALL, NOW)

        assert [index.rows([m.note])[m.note].path for m in found] == ["user/c.md", "user/a.md"]

    def test_two_notes_with_one_id_are_both_there(self, index: Index) -> None:
        index.apply([put("a", "one", id="X1"), put("b", "two", id="X1")])

        first, second = index.find("X1"), index.find("user/b")
        assert first is not None
        assert second is not None
        assert (first.path, second.path) == ("user/a.md", "user/b.md")
        assert index.warnings()[0][1] == "duplicate-id"

    def test_an_id_that_is_the_path_of_another_note_keeps_neither_out(self, index: Index) -> None:
        index.apply([put("a", "one", id="user/b"), put("b", "two")])
        index.apply([put("b", "two again")])

        paths = [row.path for row in (index.find("user/b"), index.find("user/b.md")) if row]
        assert paths == ["user/a.md", "user/b.md"]
        assert [warning[:2] for warning in index.warnings()] == [("user/b.md", "duplicate-id")]

    def test_notes_that_swap_their_ids_at_once_have_them(self, index: Index) -> None:
        index.apply([put("a", "one", id="X1"), put("b", "two", id="X2")])
        index.apply([put("a", "one", id="X2"), put("b", "two", id="X1")])

        found = {note_id: row.path for note_id in ("X1", "X2") if (row := index.find(note_id))}
        assert found == {"X1": "user/b.md", "X2": "user/a.md"}
        assert index.warnings() == []

    def test_of_two_versions_of_a_note_the_later_counts(self, index: Index) -> None:
        index.apply([put("a", "the gateway"), put("b", "the lamp"), put("a", "the lantern")])

        assert self.words(index, "gateway") == []
        assert self.words(index, "lantern") == ["a"]

    def test_what_happens_to_a_path_counts_in_its_order(self, index: Index) -> None:
        index.apply([put("a", "the gateway")])

        index.apply(
            [
                Rename("user/a.md", "user/b.md", "user", Seen("s", "e1")),
                put("a", "the lamp"),
                Drop("user/b.md"),
                put("c", "the lantern"),
                Touch("user/c.md", Seen("new", "e9")),
            ]
        )

        assert self.words(index, "gateway lamp lantern") == ["a", "c"]
        assert index.listing()["user/c.md"] == Seen("new", "e9")

    def test_recalls_are_counted_and_survive_a_rebuild(self, index: Index) -> None:
        written = format_time(NOW - timedelta(days=30))
        index.apply([put("a", "gateway", id="A1", created=written), put("b", "lamp", id="B1")])

        index.recalled(["A1", "gone"], NOW)
        index.recalled(["A1"], NOW)
        index.clear()

        known = index.recalls(["A1", "B1", "gone"]).pop("A1")
        assert index.recalls(["B1", "gone"]) == {}
        assert (known.count, known.last) == (2, NOW)
        assert known.stability_days == pytest.approx(30 * (1 + 2 * (1 - exp(-1))))

    def test_the_vectors_of_notes_come_by_note(self, index: Index) -> None:
        index.apply(
            [put("a", " ".join(f"word{n}" for n in range(400))), put("b", "b"), put("c", "c")]
        )
        pieces = len(index.pending(MODEL, ANY, 100)) - 2
        self.give_vectors(index, *[vector(1)] * (pieces + 2))
        keys = {row.path: row.key for row in index.latest(ALL, NOW, 9)}
        of_a, of_c = keys["user/a.md"], keys["user/c.md"]

        found = index.note_vectors([of_a, of_c], MODEL)

        assert pieces > 1
        assert found == [*[(of_a, vector(1))] * pieces, (of_c, vector(1))]
        assert index.note_vectors(keys.values(), "another") == []

    def test_purge_leaves_no_orphan(self, index: Index) -> None:
        index.apply([put("a", "aaa")])
        self.give_vectors(index, vector(1))
        index.apply([Drop("user/a.md")])

        index.purge()
        index.apply([put("a", "aaa")])

        assert len(index.pending(MODEL, ANY, 10)) == 1

    def test_uses_are_counted_by_day_host_and_act_and_survive_a_rebuild(self, index: Index) -> None:
        index.apply([put("a", "alpha", id="A1"), put("b", "beta", id="B1")])
        early = NOW - timedelta(days=3)
        index.count_uses(
            [
                Use("cursor", "recall", early, ("A1",), 10),
                Use("cursor", "recall", NOW, ("A1", "B1"), 20),
                Use("codex", "read", NOW, ("B1",), 5),
                Use("cursor", "read", NOW, ("A1",), 7),
                Use("cursor", "read", NOW, ("A1",), 7),
            ]
        )
        index.clear()

        assert index.uses(NOW.date()) == [
            Total("codex", "read", 1, 5),
            Total("cursor", "read", 2, 14),
            Total("cursor", "recall", 1, 20, shown=2, used=1),
        ]
        assert index.uses(early.date())[2] == Total("cursor", "recall", 2, 30, shown=3, used=1)
        assert index.most_shown(early.date(), 5) == [Shown("A1", 2, 1), Shown("B1", 1, 0)]

    def test_a_note_that_is_read_much_later_was_not_used(self, index: Index) -> None:
        index.apply([put("a", "alpha", id="A1")])
        index.count_uses([Use("cursor", "brief", NOW, ("A1",), 10)])
        index.count_uses([Use("cursor", "read", NOW + USED_WITHIN * 2, ("A1",), 10)])

        assert [shown.used for shown in index.most_shown(NOW.date(), 5)] == [0]

    def test_what_was_counted_of_an_erased_note_is_gone(self, index: Index) -> None:
        index.apply([put("a", "alpha", id="A1"), put("b", "beta", id="B1")])
        index.count_uses([Use("cursor", "recall", NOW, ("A1", "B1"), 10)])
        index.apply([Drop("user/a.md")])
        index.purge()

        assert index.most_shown(NOW.date(), 5) == [Shown("B1", 1, 0)]
