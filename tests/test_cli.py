"""The command line as a user types it: real processes, exit codes, stdout and stderr."""

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from memorix import __version__


def test_a_note_goes_in_by_stdin_and_is_found_read_listed_and_forgotten(memorix) -> None:  # type: ignore[no-untyped-def]
    done = json.loads(
        memorix(
            "remember",
            "--title",
            "网关端口",
            "--tags",
            "net,ops",
            "--json",
            stdin="端口是 8443。\n",
        )
    )

    found = json.loads(memorix("recall", "网关端口", "--json"))
    assert [hit["id"] for hit in found["hits"]] == [done["id"]]
    assert json.loads(memorix("read", done["id"], "--json"))["body"] == "端口是 8443。\n"
    assert json.loads(memorix("list", "--json"))["notes"][0]["title"] == "网关端口"
    assert "nothing done yet" in memorix("forget", done["id"], "--dry-run")
    memorix("forget", done["id"])
    assert json.loads(memorix("recall", "网关端口", "--json"))["hits"] == []


def test_text_may_be_an_argument_and_a_hand_written_file_is_found(memorix, vault: Path) -> None:  # type: ignore[no-untyped-def]
    memorix("remember", "Use uv, not pip.", "--type", "preference", "--scope", "user")
    (vault / "user" / "by-hand.md").write_text("# Larkspur\n\nBlue.\n", encoding="utf-8")

    assert "Larkspur" in memorix("recall", "larkspur")
    assert "Preference" in memorix("list", "--type", "preference")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["read", "nope"], 3, "There is no note 'nope'"),
        (["read", "../x"], 2, "not a plain path"),
        (["remember", " "], 2, "The text is empty"),
        (["recall", "x", "--since", "soon"], 2, "takes a date"),
        (["recall", "x", "--scope", "nowhere"], 2, "There is no scope"),
        (["forget", "nope"], 3, "Nothing was changed"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_a_mistake_is_one_sentence_and_an_exit_code(
    memorix,
    arguments: list[str],
    code: int,
    words: str,  # type: ignore[no-untyped-def]
) -> None:
    assert words in memorix(*arguments, code=code)


def test_a_mistake_in_the_settings_names_its_source(memorix) -> None:  # type: ignore[no-untyped-def]
    assert "MEMORIX_WATCH" in memorix("status", code=2, MEMORIX_WATCH="sometimes")


def test_reindex_from_nothing_gives_the_same_recall(memorix, settings: dict[str, str]) -> None:  # type: ignore[no-untyped-def]
    for number in range(5):
        memorix("remember", f"Lamp {number} is lit by engine {number * 7}.")
    before = memorix("recall", "lamp engine", "--json")
    for file in Path(settings["MEMORIX_STATE_DIR"]).glob("index.db*"):
        file.unlink()

    assert "5 notes read" in memorix("reindex")
    assert memorix("recall", "lamp engine", "--json") == before
    assert "5 notes read" in memorix("reindex", "--full")
    assert memorix("recall", "lamp engine", "--json") == before
    assert "0 notes read" in memorix("reindex")


def test_export_writes_a_bundle_an_archive_and_json_lines(
    memorix, vault: Path, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    memorix("remember", "Lamp one.", "--title", "One")
    note = vault / "projects/app/one.md"
    out = tmp_path / "out"
    out.mkdir()

    for name in ("folder", "a.zip", "a.tar.gz", "a.jsonl"):
        assert "1 notes written" in memorix("export", str(out / name))

    assert (out / "folder/projects/app/one.md").read_bytes() == note.read_bytes()
    with zipfile.ZipFile(out / "a.zip") as packed:
        assert packed.read("projects/app/one.md") == note.read_bytes()
    with tarfile.open(out / "a.tar.gz") as packed_too:
        assert packed_too.getnames() == ["projects/app/index.md", "projects/app/one.md"]
    line = json.loads((out / "a.jsonl").read_text(encoding="utf-8"))
    assert (line["title"], line["body"].strip()) == ("One", "Lamp one.")
    assert "exists already" in memorix("export", str(out / "a.zip"), code=2)
    assert "1 notes written" in memorix("export", str(out / "a.zip"), "--overwrite")


def test_edit_opens_the_editor_and_takes_the_change_in(memorix, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = json.loads(memorix("remember", "The port is 8443.", "--json"))
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys, pathlib\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "text = file.read_text(encoding='utf-8').replace('8443', 'quokka')\n"
        "file.write_text(text, encoding='utf-8')\n",
        encoding="utf-8",
    )

    memorix("edit", done["id"], EDITOR=f"{sys.executable} {editor}", VISUAL="")

    assert done["id"] in memorix("recall", "quokka")


def test_init_makes_the_vault_and_the_projects_place(memorix, vault: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert "known by path" in memorix("init")

    assert (vault / "user").is_dir()
    assert (vault / "projects" / "app").is_dir()


def test_a_bundle_in_the_repository_holds_the_projects_notes(memorix, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    memorix("init", "--in-repo")
    memorix("remember", "The port is 8443.", "--title", "Port")

    assert (tmp_path / "app" / "memory" / "port.md").is_file()
    assert "Port" in memorix("recall", "port")


def test_settings_and_models_are_shown(memorix) -> None:  # type: ignore[no-untyped-def]
    assert json.loads(memorix("config", "--json"))["model"]["value"] == "none"
    assert any(row["name"] == "minilm" for row in json.loads(memorix("model", "list", "--json")))
    memorix("model", "use", "multilingual")
    assert "multilingual" in memorix("config", MEMORIX_MODEL="")


def test_the_version_is_printed(memorix) -> None:  # type: ignore[no-untyped-def]
    assert memorix("--version") == f"memorix {__version__}\n"


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "sys.argv = ['memorix', '--help']\n"
        "from memorix.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'mcp', 'numpy', 'fastembed', 'onnxruntime', 'pydantic', 'watchdog', 'apsw'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stderr.strip() == "[]"


def test_check_judges_a_bundle_proposes_repairs_and_makes_them_when_told(
    memorix, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    bundle = tmp_path / "theirs"
    bundle.mkdir()
    (bundle / "a.md").write_bytes(b"---\ntype: Fact\ntitle: a: b\n---\r\nx\r\n")

    memorix("check", str(bundle), code=2)
    diff = memorix("check", str(bundle), "--fix", code=2, keep_output=True)
    untouched = (bundle / "a.md").read_bytes()
    memorix("check", str(bundle), "--fix", "--write")

    assert '+title: "a: b"' in diff
    assert untouched == b"---\ntype: Fact\ntitle: a: b\n---\r\nx\r\n"
    assert (bundle / "a.md").read_bytes() == b'---\ntype: Fact\ntitle: "a: b"\n---\r\nx\r\n'
    report = json.loads(memorix("check", str(bundle), "--json"))["bundles"][0]
    assert (report["conformant"], report["clean"], report["findings"]) == (True, True, [])


def test_notes_go_from_one_vault_into_another_as_a_bundle(memorix, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    done = json.loads(memorix("remember", "The port is 8443.", "--title", "Port", "--json"))
    other = {"MEMORIX_VAULT": str(tmp_path / "v2"), "MEMORIX_STATE_DIR": str(tmp_path / "s2")}

    memorix("export", "--to", "okf", str(tmp_path / "out.zip"), "--scope", "app")
    said = memorix("check", str(tmp_path / "out.zip"))
    plan = json.loads(memorix("import", str(tmp_path / "out.zip"), "--dry-run", "--json", **other))
    memorix("import", str(tmp_path / "out.zip"), **other)
    again = json.loads(memorix("import", str(tmp_path / "out.zip"), "--json", **other))

    assert "1 notes, conformant, clean" in said
    assert (plan["counts"], plan["done"]) == ({"new": 2}, False)
    assert again["counts"] == {"known": 2}
    assert json.loads(memorix("read", done["id"], "--json", **other))["title"] == "Port"


def test_a_note_is_moved_indexes_are_written_and_the_doctor_is_content(
    memorix, vault: Path
) -> None:  # type: ignore[no-untyped-def]
    done = json.loads(memorix("remember", "The port is 8443.", "--title", "Port", "--json"))

    moved = json.loads(memorix("mv", done["id"], "projects/app/net/", "--json"))
    indexed = memorix("index")

    assert moved["path"] == "projects/app/net/port.md"
    assert indexed.count("written: ") == 2
    assert "[Port](port.md)" in (vault / "projects/app/net/index.md").read_text(encoding="utf-8")
    assert json.loads(memorix("doctor", "--json"))["sound"] is True
    assert memorix("index") == "Nothing to write.\n"


def test_what_was_written_is_listed_compared_taken_back_and_brought_back(
    memorix, vault: Path
) -> None:  # type: ignore[no-untyped-def]
    done = json.loads(memorix("remember", "网关的端口是 8443。", "--title", "网关端口", "--json"))
    path = vault / done["path"]
    first = path.read_bytes()
    memorix("forget", done["id"])

    (latest, _) = json.loads(memorix("history", "--json"))["changes"]
    assert (latest["what"], latest["paths"]) == ("retire", [done["path"]])
    assert latest["who"].startswith("human:")
    assert "+status: deprecated" in memorix("history", done["id"], "--diff").replace('"', "")
    assert "would be undone: retire" in memorix("undo", "--dry-run")
    assert "redo: memorix undo" in memorix("undo", done["id"])
    assert path.read_bytes() == first
    memorix("forget", done["id"])
    assert "restored" in memorix("restore", done["id"], "--version", done["etag"][:12])
    assert path.read_bytes() == first
    path.write_bytes(first + b"by hand\n")
    assert "changed by hand" in memorix("undo", done["id"], code=4)
    assert "There is no note" in memorix("undo", "nonsense", code=3)


def test_repairs_of_the_vault_are_taken_back_by_one_command(memorix, vault: Path) -> None:  # type: ignore[no-untyped-def]
    for scope in ("user", "projects/app"):
        (vault / scope).mkdir(parents=True)
        (vault / scope / "odd.md").write_bytes(b"---\ntitle: Port: 22\n---\n\nSSH.\n")
    before = {file: file.read_bytes() for file in vault.rglob("*.md")}
    memorix("check", "--fix", "--write")
    assert all(file.read_bytes() != content for file, content in before.items())

    memorix("undo")

    assert {file: file.read_bytes() for file in vault.rglob("*.md")} == before


def test_a_person_says_how_notes_stand(memorix, vault: Path) -> None:  # type: ignore[no-untyped-def]
    def keep(text: str) -> str:
        return str(json.loads(memorix("remember", text, "--json"))["id"])

    def meta(note_id: str) -> dict[str, object]:
        return dict(json.loads(memorix("read", note_id, "--json"))["meta"])

    port, tls, old = keep("The port is 8443."), keep("TLS ends here."), keep("Backups run at 2:15.")

    plan = memorix("supersede", old, "--text", "Backups run at 4:40.", "--dry-run")
    newer = memorix("supersede", old, "--text", "-", "--json", stdin="Backups run at 4:40.\n")
    memorix("contest", port, tls)
    memorix("verify", port, "--set", "stale_after=90d")
    merged = memorix("merge", port, tls, "--text", "# Gateway\n\nPort 8443, TLS.", "--json")
    again = memorix("supersede", port, "--text", "x", code=2)

    assert plan.startswith("dry run, nothing written:\n- create projects/app/backups-run")
    assert json.loads(newer)["superseded"] == old
    assert meta(tls)["contested_by"] == [port]
    (event,) = meta(port)["verified"]  # type: ignore[misc]
    assert str(event["by"]).startswith("human:")
    assert "stale_after" in meta(port)
    assert json.loads(merged)["status"] == "merged"
    assert "is replaced by" in again
