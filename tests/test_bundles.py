"""Bundles into the vault and out of it, and the round trip of every real note there is."""

import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memorix import exporting, intake, transfer
from memorix.checking import check, is_concept
from memorix.editing import set_keys
from memorix.errors import InvalidRequest, NoteUneditable
from memorix.exchange.reading import read
from memorix.exporters import okf
from memorix.frontmatter import cut, read_block
from memorix.layout import folder_of
from memorix.memory import Memory
from memorix.query import Filter
from memorix.wiring import open_memory

BUNDLES = Path(__file__).parent / "data" / "okf-bundles"
ALL = sorted(str(p.relative_to(BUNDLES)) for p in BUNDLES.glob("*/bundles/*"))
CONCEPTS = [
    path.read_bytes().decode()
    for name in ALL
    for path in sorted((BUNDLES / name).rglob("*.md"))
    if is_concept(path.name)
]


def bring(memory: Memory, source: Path, scope: str = "app", **how: bool) -> dict[str, int]:
    """Import a bundle and count what became of its files."""
    found = read(source)
    files = intake.incoming(found.each(), folder_of(scope), found.name)
    counts: dict[str, int] = {}
    for taken in transfer.take_in(memory, files, **how):
        counts[taken.status] = counts.get(taken.status, 0) + 1
    return counts


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


# -- the round trip of single keys


@pytest.mark.rule("MEM-21", "OKF-14", "MEM-22")
def test_a_key_set_and_removed_leaves_every_real_note_as_it_was() -> None:
    kept = refused = 0
    for text in CONCEPTS:
        try:
            once = set_keys(text, {"x-memorix": ["a", "b"]}, "a.md")
        except NoteUneditable:
            refused += 1
            continue
        assert len(set(once.splitlines()) - set(text.splitlines())) == 1
        kept += set_keys(once, {"x-memorix": None}, "a.md") == text

    assert (len(CONCEPTS), kept, refused) == (340, 312, 28)


@pytest.mark.rule("MEM-21")
def test_a_value_changed_and_changed_back_leaves_every_real_note_as_it_was() -> None:
    changed = 0
    for text in CONCEPTS:
        for key, value, other in replaceable(text):
            once = set_keys(text, {key: other}, "a.md")

            assert len(set(once.splitlines()) - set(text.splitlines())) == 1
            assert set_keys(once, {key: value}, "a.md") == text
            changed += 1

    assert changed > 1000


def replaceable(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield key, value and another value of its kind, of each scalar on one line of a block."""
    block = cut(text).block
    if not read_block(block).sound:
        return
    root = yaml.compose(block, Loader=yaml.BaseLoader)
    for name, node in root.value:
        one_line = name.start_mark.line == node.end_mark.line
        if isinstance(node, yaml.ScalarNode) and one_line and node.value:
            kind = type(yaml.safe_load(block)[name.value])
            other = "2001-02-03" if issubclass(kind, date) else "other words"
            yield name.value, node.value, "1" if kind in (int, float) else other


KEYS = st.sampled_from(["type", "title", "tags", "x", "weird key", "日期"])
SCALARS = st.text(
    alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12
)


@given(
    st.dictionaries(KEYS, st.one_of(SCALARS, st.lists(SCALARS, max_size=3)), min_size=1),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "# why\n", "other:\n  - a # b\n  -   c\n\n"]),
    st.text(max_size=40),
    st.sampled_from(["", "\ufeff"]),
)
@pytest.mark.rule("MEM-21")
def test_a_key_set_and_removed_leaves_any_note_as_it_was(
    keys: dict[str, object], newline: str, more: str, body: str, bom: str
) -> None:
    block = yaml.safe_dump(keys, allow_unicode=True, sort_keys=False) + more
    text = bom + f"---\n{block}---\n".replace("\n", newline) + body

    once = set_keys(text, {"added": "one"}, "a.md")

    assert read_block(cut(once).block).values["added"] == "one"
    assert set_keys(once, {"added": None}, "a.md") == text


# -- in and out


def export(memory: Memory, target: Path) -> None:
    exporting.export(memory, okf, target, Filter(scopes=("app",)))


@pytest.mark.rule("MEM-31", "MEM-32", "OKF-30")
@pytest.mark.parametrize("name", ALL)
def test_export_import_export_is_byte_identical(
    name: str, memory: Memory, settings: dict[str, str], tmp_path: Path
) -> None:
    bring(memory, BUNDLES / name)
    export(memory, tmp_path / "one")
    other = another_vault(settings, tmp_path)
    bring(other, tmp_path / "one")
    export(other, tmp_path / "two")
    other.close()

    assert tree(tmp_path / "one") == tree(tmp_path / "two")
    assert check(tree(tmp_path / "one")).conformant


def another_vault(settings: dict[str, str], tmp_path: Path) -> Memory:
    from memorix.config import load

    places = {"MEMORIX_VAULT": str(tmp_path / "vault2"), "MEMORIX_STATE_DIR": str(tmp_path / "s2")}
    return open_memory(load({}, settings | places))


@pytest.mark.rule("MEM-32")
def test_a_second_import_changes_nothing_and_a_third_only_what_is_to_be_replaced(
    memory: Memory, vault: Path
) -> None:
    source = BUNDLES / "saschb2b-okf/bundles/okf"
    first = bring(memory, source)
    before = tree(vault)

    second = bring(memory, source)
    file = next((vault / "projects/app/spec").glob("concept*.md"))
    file.write_bytes(file.read_bytes() + b"\nmine\n")
    third = bring(memory, source)
    mine = file.read_bytes()
    fourth = bring(memory, source, replace=True)

    assert first == {"new": 72}
    assert second == {"known": 72}
    assert third == {"known": 72}  # what came is as it was, and what was edited stays
    assert mine.endswith(b"\nmine\n")
    assert fourth == {"known": 71, "changed": 1}
    assert tree(vault) == before


@pytest.mark.rule("OKF-6", "OKF-34")
def test_all_notes_of_a_real_bundle_are_found_also_those_whose_block_is_broken(
    memory: Memory, vault: Path
) -> None:
    shutil.copytree(BUNDLES / "saschb2b-okf/bundles/okf", vault / "projects/app")
    memory.catch_up()

    rows = memory.list(Filter(scopes=("app",)), 100)
    warned = {path for path, code, _, _ in memory.index.warnings() if code == "frontmatter-invalid"}

    assert (len(rows), len(warned)) == (63, 17)
    assert all(row.title and row.type != "Note" for row in rows)


@pytest.mark.rule("MEM-32", "MEM-7")
def test_an_import_is_marked_and_its_trust_is_not_inherited(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    text = (
        '---\ntype: Fact\nid: "01X"\nverified:\n  - { by: "human:eve", at: "2026-01-01" }\n---\nx\n'
    )
    (tmp_path / "theirs" / "a.md").write_text(text, encoding="utf-8")

    bring(memory, tmp_path / "theirs")

    found = memory.read("01X")
    assert (found.trust, found.note.origin) == ("unverified", "imported")
    assert found.note.meta["imported_from"] == "theirs"
    assert found.note.meta["verified_at_source"] == [{"by": "human:eve", "at": "2026-01-01"}]


def test_a_note_whose_id_is_there_under_another_path_is_known(
    memory: Memory, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        (tmp_path / "theirs").mkdir(exist_ok=True)
        (tmp_path / "theirs" / f"{name}.md").write_text("---\nid: 01X\n---\nx\n", encoding="utf-8")
        counts = bring(memory, tmp_path / "theirs")
        (tmp_path / "theirs" / f"{name}.md").unlink()

    assert counts == {"known": 1}


def test_a_dry_run_tells_all_and_does_nothing(memory: Memory, vault: Path) -> None:
    counts = bring(memory, BUNDLES / "saschb2b-okf/bundles/hello-okf", dry_run=True)

    assert counts == {"new": 7}
    assert not (vault / "projects").exists()


@pytest.mark.parametrize("kind", [".zip", ".tar.gz", ""])
def test_a_bundle_comes_out_of_every_form_it_went_into(
    kind: str, memory: Memory, tmp_path: Path
) -> None:
    bring(memory, BUNDLES / "saschb2b-okf/bundles/hello-okf")
    export(memory, tmp_path / "one")

    export(memory, tmp_path / f"out{kind}")
    export(memory, tmp_path / f"again{kind}")

    assert read(tmp_path / f"out{kind}").files == tree(tmp_path / "one")
    if kind:
        assert (tmp_path / f"out{kind}").read_bytes() == (tmp_path / f"again{kind}").read_bytes()


def test_an_archive_cannot_write_outside_and_hidden_files_stay_out(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        for name in ("../evil.md", "/abs.md", "C:\\x.md", ".git/a.md", "good.md"):
            archive.writestr(name, "x")

    found = read(tmp_path / "bad.zip")

    assert list(found.files) == ["good.md"]
    assert {name for name, _ in found.skipped} >= {"../evil.md", "/abs.md"}


@pytest.mark.rule("OKF-37", "OKF-1")
def test_a_bundle_is_read_to_any_depth_without_hidden_files_and_links_out_of_it(
    tmp_path: Path,
) -> None:
    root = tmp_path / ".okf"
    (root / "a/b/c").mkdir(parents=True)
    (root / ".hidden").mkdir()
    for path in ("a/b/c/deep.md", ".hidden/x.md", "a/photo.png", "top.md"):
        (root / path).write_text("---\ntype: Fact\n---\n", encoding="utf-8")
    (tmp_path / "outside.md").write_text("secret", encoding="utf-8")
    (root / "link.md").symlink_to(tmp_path / "outside.md")

    found = read(root)

    assert sorted(found.files) == ["a/b/c/deep.md", "top.md"]
    assert "a/photo.png" in found.others
    assert check(found.files, found.others).clean


@pytest.mark.parametrize("make", ["nothing", "text", "broken"])
def test_what_is_no_bundle_is_refused_with_a_sentence(make: str, tmp_path: Path) -> None:
    source = tmp_path / "x.zip"
    if make != "nothing":
        source.write_bytes(b"PK\x03\x04 broken" if make == "broken" else b"hello")

    with pytest.raises(InvalidRequest, match=r"x\.zip"):
        read(source)


def test_a_large_file_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "big.md").write_bytes(b"x" * (16 * 1024 * 1024 + 1))
    (tmp_path / "small.md").write_bytes(b"x")

    found = read(tmp_path)

    assert list(found.files) == ["small.md"]
    assert found.skipped[0][0] == "big.md"


@pytest.mark.rule("MEM-31", "OKF-2")
def test_an_export_of_hand_made_notes_is_conformant_and_clean(
    memory: Memory, vault: Path, tmp_path: Path
) -> None:
    folder = vault / "projects/app"
    folder.mkdir(parents=True)
    (folder / "plain.md").write_text("# Plain\n\nNo block. [Colon](colon.md)\n", encoding="utf-8")
    (folder / "colon.md").write_text("---\ntitle: a: b\n---\nx\n", encoding="utf-8")
    memory.catch_up()

    export(memory, tmp_path / "out")

    files = tree(tmp_path / "out")
    assert check(files).clean
    assert b'title: "a: b"' in files["colon.md"]
    assert files["index.md"].startswith(b'---\nokf_version: "0.2"\n---\n')
    assert (folder / "colon.md").read_bytes() == b"---\ntitle: a: b\n---\nx\n"


@pytest.mark.rule("MEM-29")
def test_indexes_are_written_on_request_and_one_made_by_hand_stays(
    memory: Memory, vault: Path, open_another: Callable[[], Memory]
) -> None:
    bring(memory, BUNDLES / "saschb2b-okf/bundles/hello-okf")
    shutil.copytree(vault / "projects/app", vault / "projects/other")
    (vault / "projects/other/index.md").unlink()
    memory.catch_up()

    first = transfer.write_indexes(memory, "other")
    again = transfer.write_indexes(open_another(), "other")
    kept = transfer.write_indexes(memory, "app")

    assert first[0] == "projects/other/index.md"
    assert again == []
    assert "projects/app/index.md" not in kept


def test_tar_members_of_other_kinds_are_left_out(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "odd.tar.gz", "w:gz") as archive:
        link = tarfile.TarInfo("link.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)

    assert read(tmp_path / "odd.tar.gz").files == {}
