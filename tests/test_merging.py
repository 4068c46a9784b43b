"""What becomes of a note that two machines changed at once."""

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from memorix.frontmatter import cut, read_block
from memorix.mergedriver import main, merged
from memorix.merging import merged_list
from memorix.note import parse
from memorix.reserved import Entry, all_indexes, is_generated
from memorix.syncgit import driver

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

NOTE = """---
type: Decision
title: 潮汐表 tide table
id: 01JCXTIDE
tags: [harbour, tides]
aliases:
  - 潮位
  - tides  # what the pilots say
status: stable
created: 2026-01-01T08:00:00Z
generated: { by: claude-code/2.1, at: 2026-01-02T08:00:00Z }
branch: main
commit: 0123456789ab
x-mine: 'kept as typed'   # by hand
---

# 潮汐

The pump starts at 3.1 m.

The gate closes at 4.0 m.

Call the pilot station first.
"""


def both(ours: str, theirs: str, base: str = NOTE) -> tuple[str, tuple[str, ...]]:
    content, conflicts = merged(base.encode(), ours.encode(), theirs.encode(), "tide.md")
    return content.decode(), conflicts


def changed(*swaps: tuple[str, str]) -> str:
    text = NOTE
    for old, new in swaps:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def lines_changed(old: str, new: str) -> list[str]:
    return [line for line in new.splitlines() if line not in old.splitlines()]


def test_what_each_side_changed_is_there_and_every_other_byte_is_ours() -> None:
    ours = changed(("tides]", "tides, 泵]"), ("3.1 m", "3.2 m"), ("stable", "draft"))
    theirs = changed(("[harbour, tides]", "[tides, pilots]"), ("4.0 m", "4.1 m"))

    text, conflicts = both(ours, theirs)

    assert not conflicts
    wanted = ours.replace("[harbour, tides, 泵]", '[tides, pilots, "泵"]').replace("4.0 m", "4.1 m")
    assert text == wanted


def test_a_list_on_lines_keeps_each_item_as_it_was_typed() -> None:
    ours = changed(("  - 潮位\n", "  - 'tide tables'\n  - 潮位\n"))
    theirs = changed(("say\n", 'say\n  - "high water"  # theirs\n'), ("  - 潮位\n", ""))

    text, conflicts = both(ours, theirs)

    assert not conflicts
    assert (
        "aliases:\n  - 'tide tables'\n  - tides  # what the pilots say\n"
        '  - "high water"  # theirs\nstatus:'
    ) in text


def test_of_two_times_the_rule_of_the_key_decides() -> None:
    base = "---\ntype: Fact\ncreated: 2026-01-05\n---\nx\n"
    ours = base.replace("2026-01-05", "2026-01-04\nvalid_to: 2026-05-01\nexpires_at: 2026-07-01")
    theirs = base.replace("2026-01-05", "2026-01-03\nvalid_to: 2026-06-01\nexpires_at: 2026-08-01")

    text, conflicts = both(ours, theirs, base)

    assert not conflicts
    read = read_block(cut(text).block).values
    assert read["created"] == "2026-01-03"
    assert read["valid_to"] == "2026-05-01"
    assert read["expires_at"] == "2026-08-01"


def test_a_validity_that_would_end_before_it_begins_is_a_conflict() -> None:
    ours = changed(("status: stable\n", "status: stable\nvalid_from: 2026-06-01\n"))
    theirs = changed(("status: stable\n", "status: stable\nvalid_to: 2026-05-01\n"))

    text, conflicts = both(ours, theirs)

    assert set(conflicts) == {"valid_from", "valid_to"}
    assert "valid_from: 2026-06-01" in text
    assert "valid_to: 2026-05-01" in text


def test_who_wrote_the_text_last_also_says_where() -> None:
    ours = changed(
        ("claude-code/2.1, at: 2026-01-02", "codex/1.0, at: 2026-01-04"),
        ("3.1 m", "3.2 m"),
        ("branch: main", "branch: feature"),
    )
    theirs = changed(
        ("at: 2026-01-02", "at: 2026-01-03"), ("4.0 m", "4.1 m"), ("0123456789ab", "ba9876543210")
    )

    for text, conflicts in (both(ours, theirs), both(theirs, ours)):
        assert not conflicts
        values = read_block(cut(text).block).values
        assert values["generated"] == {"by": "codex/1.0", "at": "2026-01-04T08:00:00Z"}
        assert values["branch"] == "feature"
        assert values["commit"] == "0123456789ab"


@pytest.mark.rule("MEM-44")
def test_a_key_that_both_changed_otherwise_stays_twice_and_the_note_is_readable() -> None:
    ours = changed(("status: stable", "status: deprecated"), ("3.1 m", "3.2 m"))
    theirs = changed(("status: stable", "status: draft # 再看"), ("tides]", "tides, new]"))

    text, conflicts = both(ours, theirs)

    assert conflicts == ("status",)
    both_versions = "status: deprecated\n=======\nstatus: draft # 再看\n"
    assert f"\n<<<<<<< ours\n{both_versions}>>>>>>> theirs\n" in text
    note = parse(text.encode(), "tide.md")
    assert note.status == "deprecated"
    assert note.tags == ("harbour", "tides", "new")
    assert note.aliases == ("潮位", "tides")
    assert [(w.code, w.line) for w in note.warnings] == [("conflict-markers", 9)]
    assert "3.2 m" in note.body


def test_lines_that_both_changed_stay_twice_and_are_told() -> None:
    ours, theirs = changed(("3.1 m", "3.2 m")), changed(("3.1 m", "3.3 m"))

    text, conflicts = both(ours, theirs)

    assert conflicts == ("text",)
    assert "<<<<<<< ours\nThe pump starts at 3.2 m.\n=======\nThe pump starts at 3.3 m.\n" in text
    (warning,) = parse(text.encode(), "tide.md").warnings
    assert warning.code == "conflict-markers"
    assert text.splitlines()[warning.line - 1] == "<<<<<<< ours"


def test_a_key_removed_here_and_changed_there_is_a_conflict() -> None:
    ours, theirs = changed(("branch: main\n", "")), changed(("branch: main", "branch: other"))

    text, conflicts = both(ours, theirs)

    assert conflicts == ("branch",)
    assert "<<<<<<< ours\n=======\nbranch: other\n>>>>>>> theirs\n" in text


def test_relations_that_both_added_are_a_list() -> None:
    section = "\n# Relations\n\n- see_also [A](a.md)\n"
    base = NOTE + section

    text, conflicts = both(
        base + "- supersedes [B](b.md)\n", base + "- derived_from [C](c.md)\n", base
    )

    assert not conflicts
    assert text == base + "- derived_from [C](c.md)\n- supersedes [B](b.md)\n"


def test_comments_of_both_sides_stay() -> None:
    ours = changed(("tags: [harbour, tides]", "tags: [harbour, tides, a] # ours"))
    theirs = changed(("tags: [harbour, tides]", "# theirs above\ntags: [harbour, tides, b] # too"))

    text, conflicts = both(ours, theirs)

    assert not conflicts
    assert "# theirs above\n# too\ntags: [harbour, tides, a, b] # ours\n" in text


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_are_merged_too(end: str) -> None:
    ours = changed(("3.1 m", "3.2 m"), ("tides]", "tides, a]"))
    theirs = changed(("4.0 m", "4.1 m"), ("tides]", "tides, b]"))
    wanted = changed(("3.1 m", "3.2 m"), ("4.0 m", "4.1 m"), ("tides]", "tides, a, b]"))

    windows = wanted.replace("\n", "\r\n")
    crlf = both(*(text.replace("\n", "\r\n") for text in (ours, theirs, NOTE)))
    one_sided = both(ours.replace("\n", end), theirs.replace("\n", "\r\n"))

    assert crlf == (windows, ())
    assert one_sided == (windows, ())


@pytest.mark.parametrize(
    "base",
    [
        "---\ntitle: a: b\ntags: [x\n---\nOne.\n\nTwo.\n",
        "---\ntitle: a\ntitle: b\n---\nOne.\n\nTwo.\n",
        "---\ntitle: never closed\n\nOne.\n\nTwo.\n",
        "One.\n\nTwo.\n",
        "---\n- a list\n---\nOne.\n\nTwo.\n",
    ],
)
def test_broken_metadata_is_merged_as_plain_text(base: str) -> None:
    ours, theirs = base.replace("One", "Uno"), base.replace("Two", "Due")

    assert both(ours, theirs, base) == (base.replace("One", "Uno").replace("Two", "Due"), ())


def test_bytes_that_are_no_utf_8_are_merged_as_they_are() -> None:
    base = "Één.\n\nTwee.\n".encode("latin-1")
    ours, theirs = base.replace(b"n.", b"n!", 1), base.replace(b"Tw", b"tw")

    assert merged(base, ours, theirs, "x.md") == (b"\xc9\xe9n!\n\ntwee.\n", ())


def test_a_log_that_both_kept_has_the_entries_of_both() -> None:
    base = b"# Log\n\n## 2026-12-02\n\n- **Creation**: [A](a.md)\n"
    ours = base.replace(b"## 2", b"## 2026-12-03\n\n- **Update**: [A](a.md)\n\n## 2")
    theirs = base.replace(b"## 2", b"## 2026-12-03\n\n- **Creation**: [B](b.md)\n\n## 2")

    content, conflicts = merged(base, ours, theirs, "user/log.md")

    day = b"## 2026-12-03\n\n- **Update**: [A](a.md)\n- **Creation**: [B](b.md)\n"
    assert not conflicts
    assert content == base.replace(b"## 2", day + b"\n## 2")


def test_an_index_that_both_made_is_one_and_can_be_made_anew() -> None:
    sides = [
        all_indexes([Entry(f"{name}.md", name, "") for name in names], "User")["index.md"].encode()
        for names in ("a", "ab", "ac")
    ]

    content, conflicts = merged(sides[0], sides[1], sides[2], "user/index.md")

    assert not conflicts
    assert is_generated(content.decode())


def test_the_driver_writes_ours_and_says_by_its_exit_code_what_came_of_it(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for file, text in zip(
        files, (NOTE, changed(("3.1", "3.2")), changed(("3.1", "3.3"))), strict=True
    ):
        file.write_text(text, encoding="utf-8", newline="")

    names = [str(file) for file in files]
    code = main([*names, "--marker-size", "9", "--path", "用户/潮 汐.md"])

    assert code == 1
    assert "<<<<<<<<< ours\n" in files[1].read_text(encoding="utf-8")
    assert main([*names[:2], str(tmp_path / "none")]) == 129
    assert main(names[:2]) == 129


def test_the_program_runs_the_driver_without_loading_the_command_line(
    memorix: Callable[..., str], tmp_path: Path
) -> None:
    for name, text in (("b", NOTE), ("o", changed(("3.1", "3.2"))), ("t", changed(("4.0", "4.1")))):
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    files = [str(tmp_path / name) for name in "bot"]

    memorix("merge-driver", *files, "--path", "tide.md")

    merged_text = (tmp_path / "o").read_text(encoding="utf-8")
    assert merged_text == changed(("3.1", "3.2"), ("4.0", "4.1"))


@pytest.mark.parametrize("how", ["merge", "rebase"])
@pytest.mark.parametrize("pulls", ["ann", "bao"])
def test_two_diverged_clones_come_together(
    tmp_path: Path, memorix: Callable[..., str], how: str, pulls: str
) -> None:
    name = "项目/潮汐 表.md"
    windows = "windows.md"

    def git(where: str, *words: str) -> str:
        who = ("-c", f"user.name={where}", "-c", f"user.email={where}@example.org")
        done = subprocess.run(
            ["git", "-C", where, *who, *words],
            cwd=tmp_path,
            capture_output=True,
            check=True,
            timeout=60,
        )
        return done.stdout.decode()

    def save(where: str, file: str, text: str) -> None:
        path = tmp_path / where / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())

    def commit(where: str) -> None:
        git(where, "add", "--all")
        git(where, "commit", "-qm", where)

    crlf = NOTE.replace("\n", "\r\n")
    ours = changed(
        ("tides]", "tides, 泵]"), ("3.1 m", "3.2 m"), ("at: 2026-01-02", "at: 2026-01-04")
    )
    theirs = changed(
        ("tides]", "tides, b]"), ("4.0 m", "4.1 m"), ("at: 2026-01-02", "at: 2026-01-03")
    )
    (tmp_path / "ann").mkdir()
    git("ann", "init", "-q", "-b", "main")
    save("ann", ".gitattributes", "*.md -text\n")
    memorix("sync-git", MEMORIX_VAULT=str(tmp_path / "ann"))
    save("ann", name, NOTE)
    save("ann", windows, crlf)
    commit("ann")
    git(".", "clone", "-q", "ann", "bao")
    memorix("sync-git", MEMORIX_VAULT=str(tmp_path / "bao"))
    git("ann", "mv", name, "项目/潮.md")
    save("ann", "项目/潮.md", ours)
    save("ann", windows, ours.replace("\n", "\r\n"))
    commit("ann")
    save("bao", name, theirs)
    save("bao", windows, theirs.replace("\n", "\r\n"))
    commit("bao")

    git(pulls, "fetch", "-q", str(tmp_path / {"ann": "bao", "bao": "ann"}[pulls]), "main")
    git(pulls, how, "FETCH_HEAD")

    text = (tmp_path / pulls / "项目/潮.md").read_bytes().decode()
    assert 'tags: [harbour, tides, b, "泵"]' in text
    assert "3.2 m" in text
    assert "4.1 m" in text
    assert "at: 2026-01-04T" in text
    assert (tmp_path / pulls / windows).read_bytes().decode() == text.replace("\n", "\r\n")
    assert not (tmp_path / pulls / name).exists()


# -- setting it up


def git_init(vault: Path) -> None:
    vault.mkdir()
    subprocess.run(["git", "init", "-q", str(vault)], check=True, timeout=60)


@pytest.mark.parametrize("before", [b"", b"*.png binary\n", b"*.png binary", b"a text\r\n\xff\r\n"])
def test_what_sync_git_puts_in_it_takes_out_to_the_byte(
    memorix: Callable[..., str], vault: Path, before: bytes
) -> None:
    git_init(vault)
    attributes, config = vault / ".gitattributes", vault / ".git/config"
    if before:
        attributes.write_bytes(before)
    configured = config.read_bytes()

    missing = memorix("sync-git", "--check", code=1, keep_output=True)
    memorix("sync-git")
    memorix("sync-git")
    put = attributes.read_bytes()
    found = memorix("sync-git", "--check")
    memorix("sync-git", "--remove")

    assert "does not say" in missing
    assert "does not know the driver" in missing
    assert put.startswith(before)
    assert put.count(b"merge=memorix") == 1
    assert "git merges notes by memorix" in found
    assert (attributes.read_bytes() if attributes.exists() else b"") == before
    assert config.read_bytes() == configured


def test_a_line_of_attributes_that_wins_over_ours_is_told(
    memorix: Callable[..., str], vault: Path
) -> None:
    git_init(vault)
    (vault / ".git/info").mkdir(exist_ok=True)
    (vault / ".git/info/attributes").write_text("*.md merge=union\n", encoding="utf-8")

    assert "says otherwise" in memorix("sync-git", code=1, keep_output=True)


def test_a_vault_in_no_repository_is_told_how_to_become_one(
    memorix: Callable[..., str], vault: Path
) -> None:
    vault.mkdir()

    assert "git init" in memorix("sync-git", code=2)


def test_a_clone_that_lacks_the_driver_is_named_by_the_doctor_and_merges_as_git_does(
    memorix: Callable[..., str], vault: Path
) -> None:
    git_init(vault)
    (vault / ".gitattributes").write_text("*.md merge=memorix\n", encoding="utf-8")

    checks = json.loads(memorix("doctor", "--json"))["checks"]

    (check,) = [check for check in checks if check["name"] == "git"]
    assert check["verdict"] == "warning"
    assert check["mend"] == "memorix sync-git"


def test_where_the_program_is_gone_git_merges_without_it(tmp_path: Path) -> None:
    for name, text in (
        ("b", "1\n2\n3\n4\n5\n"),
        ("o", "one\n2\n3\n4\n5\n"),
        ("t", "1\n2\n3\n4\nfive\n"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    asked = driver([str(tmp_path / "gone/memorix")])
    for mark, name in (("%O", "b"), ("%A", "o"), ("%B", "t"), ("%L", "7"), ("%P", "note.md")):
        asked = asked.replace(mark, name)

    subprocess.run(["sh", "-c", asked], cwd=tmp_path, check=True, timeout=60)

    assert (tmp_path / "o").read_text(encoding="utf-8") == "one\n2\n3\n4\nfive\n"


# -- properties

WORDS = ("tide", "潮", "pump-2", "a b", "no", "2026-01-05", "#x", "C# 9", "")
KEYS = ("title", "status", "tags", "aliases", "x-note", "timestamp", "valid_to", "created")
TIMES = ("2026-01-05", "2026-02-01T08:00:00Z", "2026-03-01T10:00:00+08:00")


def _versions(seed: int) -> tuple[str, str, str]:
    """Make a note and what two people make of it, each line of theirs known by its own words."""
    chance = random.Random(seed)
    end = chance.choice(["\n", "\n", "\r\n"])
    keys = {key: _any_value(key, chance) for key in chance.sample(KEYS, chance.randint(0, 6))}
    body = [f"Line {n}: {chance.choice(WORDS)}" for n in range(chance.randint(0, 8))]
    sides = [_edited(dict(keys), list(body), chance, who) for who in ("Ann", "宝")]
    texts = [_typed(*side, chance, end) for side in ((keys, body), *sides)]
    return texts[0], texts[1], texts[2]


def _any_value(key: str, chance: random.Random) -> str | list[str]:
    if key in ("tags", "aliases"):
        return chance.sample(WORDS[:-1], chance.randint(1, 4))
    return chance.choice(TIMES if key in ("timestamp", "valid_to", "created") else WORDS[:5])


def _edited(
    keys: dict[str, str | list[str]], body: list[str], chance: random.Random, who: str
) -> tuple[dict[str, str | list[str]], list[str]]:
    for key in chance.sample(KEYS, chance.randint(0, 3)):
        keys[key] = _any_value(key, chance)
        if chance.random() < 0.2:
            del keys[key]
    for number in range(chance.randint(0, 3)):
        body.insert(chance.randint(0, len(body)), f"{who} added {number}")
    return keys, body


def _typed(
    keys: dict[str, str | list[str]], body: Sequence[str], chance: random.Random, end: str
) -> str:
    lines = [] if not keys else ["---", *(f"{k}: {_yaml(v)}" for k, v in keys.items()), "---"]
    return "".join(f"{line}{end}" for line in [*lines, *body])


def _yaml(value: str | list[str]) -> str:
    quoted = [f'"{item}"' for item in ([value] if isinstance(value, str) else value)]
    return quoted[0] if isinstance(value, str) else f"[{', '.join(quoted)}]"


@settings(max_examples=150, deadline=None)
@given(some.integers(0, 10**9))
def test_a_side_that_changed_nothing_has_no_say(seed: int) -> None:
    base, ours, theirs = _versions(seed)

    assert both(ours, base, base) == (ours, ())
    assert both(base, theirs, base) == (theirs, ())
    assert both(ours, ours, base) == (ours, ())


@settings(max_examples=150, deadline=None)
@given(some.integers(0, 10**9))
def test_no_line_that_a_person_added_is_lost(seed: int) -> None:
    base, ours, theirs = _versions(seed)

    text, _ = both(ours, theirs, base)

    for side in (ours, theirs):
        added = [line for line in side.splitlines() if "added" in line]
        assert set(added) <= set(text.splitlines())


@settings(max_examples=150, deadline=None)
@given(some.integers(0, 10**9))
def test_metadata_that_does_not_collide_is_the_same_whichever_side_is_ours(seed: int) -> None:
    base, ours, theirs = _versions(seed)

    (one, first), (other, second) = both(ours, theirs, base), both(theirs, ours, base)

    assert set(first) == set(second)
    if not {"lines", *first} - {"text"}:
        return
    if not first:
        blocks = [read_block(cut(text).block) for text in (one, other)]
        assert all(block.sound for block in blocks)
        assert blocks[0].values == blocks[1].values


ITEMS = some.lists(some.sampled_from("abcdefgh"), unique=True)


@given(ITEMS, ITEMS, ITEMS)
def test_lists_merge_as_sets_and_in_the_same_order_from_either_side(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    found = merged_list([base, ours, theirs])

    assert found == merged_list([base, theirs, ours])
    kept = set(base) & set(ours) & set(theirs)
    assert set(found) == kept | ({*ours, *theirs} - set(base))
    assert len(found) == len(set(found))
    assert merged_list([base, base, theirs]) == theirs
    assert merged_list([base, ours, ours]) == ours
