import json
from pathlib import Path

import pytest
from okf.api import validate  # type: ignore[import-untyped]

from memorix.checking import Report, check, repairs
from memorix.exchange.reading import read

BUNDLES = Path(__file__).parent / "data" / "okf-bundles"
MEASURED = json.loads((BUNDLES / "measured.json").read_text(encoding="utf-8"))["bundles"]
LOG_WITH_BLOCK = "google-okf/bundles/acme_retail"
# Its log.md has a block; okf-cli calls that an error, and our rule OKF-31 accepts it.

HEAD = "---\ntype: Fact\n---\n"


def checked(**files: str) -> Report:
    """Check a bundle of these files; `sub__a` is sub/a.md."""
    named = {f"{name.replace('__', '/')}.md": text.encode() for name, text in files.items()}
    return check(named)


def note(**keys: str) -> str:
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in keys.items()) + "---\ntext\n"


def found(report: Report) -> list[tuple[str, str]]:
    return [(finding.rule, finding.severity) for finding in report.findings]


# -- real bundles


@pytest.mark.parametrize("name", sorted(MEASURED))
def test_the_verdict_on_a_real_bundle_is_that_of_two_other_readers(name: str) -> None:
    source, known = read(BUNDLES / name), MEASURED[name]
    theirs = validate(BUNDLES / name)

    report = check(source.files, source.others)

    unparsed = {f.path for f in report.findings if f.rule == "OKF-6" and f.severity == "error"}
    untyped = {f.path for f in report.findings if f.rule == "OKF-7" and f.severity == "error"}
    assert report.notes == known["concepts"]
    assert unparsed == set(known["rule1_failures"])
    assert untyped == set(known["rule2_failures"])
    assert report.conformant is known["conformant_rules_1_and_2"]
    their_errors = {error.partition(":")[0] for error in theirs.errors}
    assert unparsed == their_errors - ({"log.md"} if name == LOG_WITH_BLOCK else set())


def test_the_links_found_broken_are_those_measured() -> None:
    for name, known in MEASURED.items():
        source = read(BUNDLES / name)

        report = check(source.files, source.others)

        broken = {f.path for f in report.findings if f.rule == "OKF-27"}
        assert broken == {path for path, _ in known["broken_md_links"]} - {"attesters/index.md"}


@pytest.mark.rule("OKF-6")
def test_all_28_broken_files_of_the_real_bundles_can_be_mended() -> None:
    broken = mended = 0
    for name in MEASURED:
        files = read(BUNDLES / name).files
        bad = {f.path for f in check(files).findings if f.rule == "OKF-6"}
        after = check({**files, **repairs(files)})

        broken += len(bad)
        mended += len(bad - {f.path for f in after.findings if f.rule == "OKF-6"})

    assert (broken, mended) == (28, 28)


@pytest.mark.parametrize("name", sorted(MEASURED))
def test_a_repaired_bundle_is_conformant_and_only_its_links_and_forms_of_old_are_left(
    name: str,
) -> None:
    source = read(BUNDLES / name)
    files = {**source.files, **repairs(source.files)}

    report = check(files, source.others)

    assert report.conformant
    assert {finding.rule for finding in report.findings} <= {"OKF-18", "OKF-27"}


# -- verdicts


@pytest.mark.rule("OKF-9", "OKF-34")
@pytest.mark.parametrize(
    "text",
    [
        note(type="Fact"),
        note(type="Something nobody has heard of"),
        note(type="Fact", unknown="{ deep: [1, {x: y}] }"),
        "---\ntype: Fact\n---\n",
    ],
)
def test_a_type_is_all_a_note_needs_to_be_clean(text: str) -> None:
    report = checked(a=text)

    assert report.conformant
    assert report.clean


@pytest.mark.rule("OKF-34", "OKF-27")
def test_a_broken_link_breaks_cleanness_only() -> None:
    report = checked(a=HEAD + "see [b](b.md)\n")

    assert report.conformant
    assert found(report) == [("OKF-27", "warning")]
    assert report.findings[0].line == 4


@pytest.mark.rule("OKF-7")
@pytest.mark.parametrize("value", ["", '""', '" "', "null", "~", "[a]", "{a: b}"])
def test_a_note_without_a_word_for_a_type_is_not_conformant(value: str) -> None:
    assert found(checked(a=note(title="x", type=value))) == [("OKF-7", "error")]


@pytest.mark.rule("OKF-7")
def test_a_number_as_a_type_is_a_warning() -> None:
    assert found(checked(a=note(type="5"))) == [("OKF-7", "warning")]


@pytest.mark.rule("OKF-5")
@pytest.mark.parametrize("text", ["", "text\n", "\n" + HEAD, "---\ntype: Fact\ntext\n", "--- \n"])
def test_a_note_without_a_closed_block_on_the_first_line_is_not_conformant(text: str) -> None:
    report = checked(a=text)

    assert ("OKF-5", "error") in found(report)
    assert not report.conformant


@pytest.mark.rule("OKF-6")
@pytest.mark.parametrize(
    ("block", "line"), [("type: a\ntitle: b: c", 3), ("- a\n- b", 2), ("type: x\n\ty: z", 3)]
)
def test_a_block_that_is_no_mapping_in_yaml_is_an_error_with_its_line(
    block: str, line: int
) -> None:
    report = checked(a=f"---\n{block}\n---\n")

    assert [(f.rule, f.severity, f.line) for f in report.findings] == [("OKF-6", "error", line)]


@pytest.mark.rule("OKF-6")
def test_a_key_given_twice_is_a_warning() -> None:
    assert found(checked(a="---\ntype: A\ntype: B\n---\n")) == [("OKF-6", "warning")]


@pytest.mark.rule("OKF-3", "OKF-2")
def test_a_readme_is_a_concept_and_an_index_is_not() -> None:
    report = checked(README="# Hello\n", index="# Index\n", sub__log="# Log\n", Index=HEAD)

    assert report.notes == 2
    assert [(f.path, f.rule) for f in report.findings] == [("README.md", "OKF-5")]


@pytest.mark.rule("OKF-8")
def test_paths_that_differ_in_case_only_are_reported_both() -> None:
    report = checked(Plan=HEAD, plan=HEAD)

    assert [(f.path, f.rule) for f in report.findings] == [
        ("Plan.md", "OKF-8"),
        ("plan.md", "OKF-8"),
    ]


@pytest.mark.rule("OKF-38")
def test_a_note_beside_a_folder_of_its_name_is_clean() -> None:
    assert checked(a=HEAD, a__b=HEAD).clean


# -- keys


@pytest.mark.rule("OKF-13", "OKF-15", "OKF-16", "OKF-18", "OKF-20", "OKF-21", "OKF-24", "OKF-36")
@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        ({"tags": "a, b"}, "OKF-13"),
        ({"status": "current"}, "OKF-24"),
        ({"stale_after": "2026-12-31"}, "OKF-15"),
        ({"created": "2026-12-31T10:00"}, "OKF-15"),
        ({"valid_to": "soon"}, "OKF-15"),
        ({"generated": "{ by: a/1, at: 2026-01-01 }"}, "OKF-15"),
        ({"verified": "[{ by: a/1, at: 2026-01-01 }]"}, "OKF-15"),
        ({"sources": "[{ resource: x, last_modified: 2026-01-01 }]"}, "OKF-15"),
        ({"sources": "[{ title: x }]"}, "OKF-16"),
        ({"sources": "x"}, "OKF-16"),
        ({"resource": "../gone.md"}, "OKF-18"),
        ({"generated": "{ at: 2026-01-01T00:00:00Z }"}, "OKF-20"),
        ({"generated": "{ by: 'Human:dana' }"}, "OKF-20"),
        ({"verified": "[{ by: 'user:dana' }]"}, "OKF-20"),
        ({"verified": "[{ at: 2026-01-01T00:00:00Z }]"}, "OKF-21"),
        ({"verified": "yes"}, "OKF-21"),
        ({"timestamp": "2026-01-01T00:00:00Z"}, "OKF-36"),
    ],
)
def test_what_is_odd_about_a_key_is_one_warning_with_its_line(
    keys: dict[str, str], rule: str
) -> None:
    report = checked(a=note(type="Fact", **keys))

    assert [(f.rule, f.severity, f.line) for f in report.findings] == [(rule, "warning", 3)]


@pytest.mark.rule("OKF-18", "OKF-20", "OKF-21", "OKF-23")
@pytest.mark.parametrize(
    "keys",
    [
        {"resource": "https://example.com/x"},
        {"resource": "all orders of 2026"},
        {"resource": "/b.md"},
        {"generated": '{ by: "team:data", at: "2026-01-01T00:00:00+02:00" }'},
        {"verified": "{ by: 'human:dana', at: '2026-01-01T00:00:00Z' }"},
        {"verified": "[]"},
        {"sources": "[]"},
        {},
    ],
)
def test_what_the_format_allows_is_clean(keys: dict[str, str]) -> None:
    assert checked(a=note(type="Fact", **keys), b=HEAD).clean


@pytest.mark.rule("OKF-17")
def test_a_footnote_needs_a_source_or_a_definition() -> None:
    sources = "---\ntype: Fact\nsources: [{ id: pr-1, resource: /b.md }]\n---\n"
    body = "One.[^pr-1] Two.[^own] Three.[^lost]\n\n[^own]: mine\n"

    report = checked(a=sources + body, b=HEAD)

    assert [(f.rule, f.line) for f in report.findings] == [("OKF-17", 5)]


# -- links and reserved files


@pytest.mark.rule("OKF-26")
def test_both_forms_of_a_link_lead_to_the_same_note() -> None:
    links = "[1](/sub/b%20c.md#x) [2](sub/b%20c.md) [3](sub/) [4](/sub/b%20c) [5](https://x.y/z.md)"

    assert checked(a=HEAD + links, **{"sub__b c": HEAD, "sub__index": "# Sub\n"}).clean


@pytest.mark.rule("MEM-17")
def test_a_wikilink_that_fits_two_notes_is_reported_with_both() -> None:
    report = checked(a=HEAD + "[[same]]\n", x__same=HEAD, y__same=HEAD)

    assert found(report) == [("MEM-17", "warning")]
    assert "x/same.md, y/same.md" in report.findings[0].message


@pytest.mark.rule("OKF-29")
def test_only_the_root_index_may_have_a_block_and_only_with_the_version() -> None:
    block = '---\nokf_version: "0.2"\n---\n# x\n'
    more = '---\nokf_version: "0.2"\ntitle: x\n---\n'

    assert checked(index=block).clean
    assert found(checked(index=more)) == [("OKF-29", "error")]
    assert found(checked(sub__index=block, sub__a=HEAD)) == [("OKF-29", "error")]


@pytest.mark.rule("OKF-35")
def test_an_unknown_version_is_a_warning() -> None:
    report = checked(index='---\nokf_version: "9.9"\n---\n', a=HEAD)

    assert found(report) == [("OKF-35", "warning")]


@pytest.mark.rule("OKF-31")
@pytest.mark.parametrize(
    "log",
    [
        "# Log\n\n## 2026-07-03 (note)\n",
        "## 2026-01-01\n\n## 2026-01-02\n",
        "## 2026-01-01\n\n## 2026-01-01\n",
    ],
)
def test_a_log_with_other_headings_or_in_another_order_is_not_conformant(log: str) -> None:
    assert {f.rule for f in checked(log=log).findings} == {"OKF-31"}
    assert not checked(log=log).conformant


@pytest.mark.rule("OKF-4")
def test_a_file_that_is_not_utf_8_is_an_error_and_the_others_are_checked() -> None:
    report = check({"a.md": b"---\ntype: Caf\xe9\n---\n", "b.md": b"text\n"})

    assert [(f.path, f.rule) for f in report.findings] == [("a.md", "OKF-4"), ("b.md", "OKF-5")]


@pytest.mark.rule("MEM-2", "MEM-24")
def test_an_id_given_twice_and_a_conflict_copy_are_reported() -> None:
    text = '---\ntype: Fact\nid: "01X"\n---\n'

    report = checked(a=text, **{"a (conflicted copy 2026-01-01)": text})

    assert sorted(f.rule for f in report.findings) == ["MEM-2", "MEM-2", "MEM-24"]


# -- repairs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("---\ntype: A\ntitle: b: c\n---\nx\n", '---\ntype: A\ntitle: "b: c"\n---\nx\n'),
        ("---\ntitle: b\n---\nx\n", "---\ntitle: b\ntype: Note\n---\nx\n"),
        ("x\n", "---\ntype: Note\n---\n\nx\n"),
        ("---\ntype: A\ntags: a, b\n---\n", "---\ntype: A\ntags: [a, b]\n---\n"),
        (
            "---\r\ntype: A\r\nstale_after: 2026-12-31 # why\r\n---\r\n",
            "---\r\ntype: A\r\nstale_after: 2026-12-31T12:00:00Z # why\r\n---\r\n",
        ),
        (
            "---\ntype: A\ngenerated: { by: a/1, at: '2026-01-01' }\nverified:\n- at: 2026-01-01\n"
            "  by: a/1\nnext_at: 2026-01-01\n---\n",
            "---\ntype: A\ngenerated: { by: a/1, at: '2026-01-01T12:00:00Z' }\nverified:\n"
            "- at: 2026-01-01T12:00:00Z\n  by: a/1\nnext_at: 2026-01-01\n---\n",
        ),
    ],
)
def test_a_repair_changes_the_fewest_bytes(old: str, new: str) -> None:
    proposed = repairs({"a.md": old.encode()})

    assert proposed == {"a.md": new.encode()}
    assert check(proposed).clean


@pytest.mark.parametrize(
    "content", [b"", b"---\ntype: A\nx\n", b"\xff\xfe", b"---\n- a\n---\n", b"---\na: [b\n---\n"]
)
def test_what_only_its_writer_can_mend_is_left_alone(content: bytes) -> None:
    assert repairs({"a.md": content}) == {}
