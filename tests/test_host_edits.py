"""Edits of other programs' files: what is not ours keeps every byte."""

import json
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorix import blocks
from memorix.hosts import jsonc, tomltext

ENTRY = {"command": "/opt/memorix", "args": ["serve"]}

# -- JSON with comments

BLANKS = st.sampled_from(["", " ", "\n", "\t", "\n  ", "\r\n\t"])
NOTES = st.sampled_from(["", "// why\n", "/* a, } { */", '// 网关 "x"\r\n', "/* two\nlines */ "])
GAPS = st.lists(st.one_of(BLANKS, NOTES), max_size=3).map("".join)
PLAIN = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=6).map(lambda t: json.dumps(t)),
    st.sampled_from(["0", "-1.5e3", "true", "false", "null", '"// no comment"', '"\\u00e9"']),
)


@st.composite
def containers(draw: st.DrawFn, values: st.SearchStrategy[str], named: bool) -> str:
    parts = []
    count = draw(st.integers(0, 3))
    for number in range(count):
        key = f'{draw(GAPS)}"k{number}"{draw(GAPS)}:' if named else ""
        last = number == count - 1
        comma = "," if not last or draw(st.booleans()) else ""
        parts.append(f"{key}{draw(GAPS)}{draw(values)}{draw(GAPS)}{comma}")
    return ("{" if named else "[") + "".join(parts) + draw(GAPS) + ("}" if named else "]")


VALUES = st.recursive(
    PLAIN, lambda inner: st.one_of(containers(inner, True), containers(inner, False)), max_leaves=8
)
FILES = st.tuples(GAPS, containers(VALUES, True), GAPS).map("".join)


def data(text: str) -> object:
    return jsonc.value(text, jsonc.parse(text))


@given(FILES)
@settings(max_examples=120, deadline=None)
def test_a_put_adds_one_value_and_a_take_gives_the_file_back(text: str) -> None:
    changed = jsonc.put(text, ["ours", "memorix-notes"], ENTRY)

    assert data(changed) == {**data(text), "ours": {"memorix-notes": ENTRY}}  # type: ignore[dict-item]
    assert jsonc.put(changed, ["ours", "memorix-notes"], ENTRY) == changed
    back = jsonc.take(changed, ["ours"])
    assert data(back) == data(text)
    if jsonc.parse(text).members:
        assert back == text


@given(FILES)
@settings(max_examples=80, deadline=None)
def test_a_put_or_take_keeps_every_comment_and_all_other_text(text: str) -> None:
    for name in ("k0", "k1", "k2"):
        node = jsonc.find(text, [name])
        if node:
            changed = jsonc.take(text, [name])
            left = data(text)
            assert isinstance(left, dict)
            left.pop(name)
            assert data(changed) == left

    changed = jsonc.put(text, ["ours"], 1)
    rest = iter(changed)
    assert all(character in rest for character in text if character not in " \t\r\n,")


@given(FILES)
@settings(max_examples=80, deadline=None)
def test_an_item_is_put_into_a_list_and_taken_out_again(text: str) -> None:
    item = {"type": "command", "command": "memorix hook"}
    lists = [k for k, v in data(text).items() if isinstance(v, list)]  # type: ignore[attr-defined]
    for name in [*lists, "new"]:
        before = data(text).get(name, [])  # type: ignore[attr-defined]
        changed = jsonc.append(text, [name], item)

        assert data(changed)[name] == [*before, item]  # type: ignore[index]
        back = jsonc.take_items(changed, [name], lambda found: found == item)
        assert data(back)[name] == before  # type: ignore[index]
        if before:
            assert back == text


@given(st.text(st.sampled_from('{}[]",:/*\\\n 1-.eEtruflasn\x00é'), max_size=12))
@settings(max_examples=500, deadline=None)
def test_what_json_takes_is_read_alike(text: str) -> None:
    try:
        expected = json.loads(text, parse_constant=int)  # no NaN
    except ValueError:
        return

    assert data(text) == expected


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{\n "a": 1\n "b": 2\n}', 3, "a comma or } is missing"),
        ('{\n "a": 1,\n', 3, "a key in double quotes or a closing } is missing"),
        ("{'a': 1}", 1, "a key in double quotes or a closing } is missing"),
        ('{"a": [1, }', 1, "a value is missing"),
        ('{"a": tru}', 1, "this is no value"),
        ('{"a": 01}', 1, "this is no value"),
        ('{"a" 1}', 1, "a colon is missing after the key"),
        ("{}\n\n{}", 3, "there is more after the end"),
        ('{"a": 1} /* and', 1, "a comment is not closed"),
        ('{"a": "b\n"}', 1, "this is no value"),
        ("[" * 5000, 1, "it is nested too deeply"),
    ],
)
def test_what_is_broken_is_told_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(jsonc.NotJson) as caught:
        jsonc.parse(text)

    assert (caught.value.line, caught.value.reason) == (line, reason)


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", '{\n  "m": {\n    "x": 1\n  }\n}\n'),
        ("{}", '{\n  "m": {\n    "x": 1\n  }\n}'),
        ('{"a":1}', '{"a":1,"m":{"x":1}}'),
        ('{"a": 1, "b": 2}\n', '{"a": 1, "b": 2, "m": {"x": 1}}\n'),
        ('{"a": {}, "m": {}}', '{"a": {}, "m": {"x": 1}}'),
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"m": {\n\t\t"x": 1\n\t}\n}'),
        ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "m": {\r\n        "x": 1\r\n    }\r\n}'),
        (
            '{\n  "a": 1 // one\n  // "b": 2\n}',
            '{\n  "a": 1, // one\n  "m": {\n    "x": 1\n  }\n  // "b": 2\n}',
        ),
        (
            '{\n  "a": 1, // one\n}',
            '{\n  "a": 1, // one\n  "m": {\n    "x": 1\n  },\n}',
        ),
        (
            '{\n  "m": {\n    // none yet\n  }\n}',
            '{\n  "m": {\n    // none yet\n    "x": 1\n  }\n}',
        ),
        ('{\n  "m": {"x": 2, "y": 3} // mine\n}', '{\n  "m": {"x": 1, "y": 3} // mine\n}'),
        ('{"m": {"x": 0}, "m": {"x": 2}}', '{"m": {"x": 0}, "m": {"x": 1}}'),
    ],
)
def test_a_put_looks_like_what_is_around_it(text: str, changed: str) -> None:
    assert jsonc.put(text, ["m", "x"], 1) == changed


def test_a_put_does_not_go_through_what_is_no_object() -> None:
    with pytest.raises(jsonc.NotJson, match="line 2: m is not an object"):
        jsonc.put('{"a": 1,\n"m": []}', ["m", "x"], 1)


# -- TOML

TOML = [
    "",
    "# only a comment\n",
    'model = "x"',
    'model = "x"\r\n[a]\r\nb = 1 # why\r\n',
    '[mcp_servers.memorix]\ncommand = "other"\n\n# the rest\n[tui]\nx = 1\n',
    '[mcp_servers.a]\ncommand = "a"\n[mcp_servers.a.env]\nK = "v"\n\n[[more]]\nx = 1\n\n\n',
    'text = """\n[mcp_servers.memorix-notes]\n"""\r\n',
    "a = 1\r\nb = 2\n",
    'mcp_servers.a.command = "x"\ny = 2\n',
]


@pytest.mark.parametrize("text", TOML)
def test_a_table_is_put_below_all_and_taken_out_to_the_byte(text: str) -> None:
    keys = ("mcp_servers", "memorix-notes")
    changed = tomltext.put(text, keys, ENTRY)

    old = tomllib.loads(text)
    assert tomllib.loads(changed) == {
        **old,
        "mcp_servers": {**old.get("mcp_servers", {}), "memorix-notes": ENTRY},
    }
    assert tomltext.put(changed, keys, ENTRY) == changed
    assert tomltext.take(changed, keys) == text


def test_what_others_wrote_below_our_table_stays_when_it_is_taken() -> None:
    text = '[a]\nx = 1\n\n[mcp_servers.memorix-notes]\ncommand = "c"\n'
    text += '[mcp_servers.memorix-notes.env]\nK = "v"\n\n# trusted\n[projects."/x"]\ny = 2\n'

    left = tomltext.take(text, ("mcp_servers", "memorix-notes"))

    assert left == '[a]\nx = 1\n\n# trusted\n[projects."/x"]\ny = 2\n'


def test_a_table_that_is_there_keeps_its_other_keys_and_comments() -> None:
    text = (
        '[mcp_servers."memorix-notes"] # by hand\r\ncommand = "old" # where\r\nx = 1\r\n\r\n[z]\r\n'
    )

    changed = tomltext.put(text, ("mcp_servers", "memorix-notes"), ENTRY)

    assert changed == (
        '[mcp_servers."memorix-notes"] # by hand\r\nargs = ["serve"]\r\n'
        'command = "/opt/memorix" # where\r\nx = 1\r\n\r\n[z]\r\n'
    )


def test_a_table_that_is_written_in_one_line_is_not_edited() -> None:
    with pytest.raises(tomltext.NotToml, match="cannot be edited as it is written"):
        tomltext.put("mcp_servers = { a = { x = 1 } }\n", ("mcp_servers", "memorix-notes"), ENTRY)


def test_broken_toml_is_told_with_its_line() -> None:
    with pytest.raises(tomltext.NotToml) as caught:
        tomltext.parse("a = 1\nb = \n[c]\n")

    assert caught.value.line == 2


# -- blocks in Markdown

PIECES = ["a", "#", " ", "\n", "\r\n", "\r", "网"]
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def block(lines: str) -> str:
    return blocks.framed(blocks.RULES, "by a test", lines)


@given(MARKDOWN)
def test_a_block_is_put_at_the_end_and_taken_out_to_the_character(text: str) -> None:
    changed = blocks.put(text, block("one\ntwo\n"))

    assert blocks.held(changed, blocks.RULES)
    assert changed.startswith(text)
    assert blocks.put(changed, block("one\ntwo\n")) == changed
    assert blocks.take(changed, blocks.RULES) == text


@given(MARKDOWN, MARKDOWN)
def test_a_newer_block_takes_the_place_of_the_old_one(before: str, after: str) -> None:
    old = blocks.put(before, block("old")) + after

    new = blocks.put(old, block("new\nlines"))

    assert new.count("memorix-notes: begin") == 1
    assert new.startswith(before)
    assert new.endswith(after)
    assert "new" in new
    assert "old" not in new


@given(MARKDOWN, MARKDOWN)
def test_what_follows_a_mark_that_lost_its_end_is_never_taken_for_the_block(
    before: str, after: str
) -> None:
    cut = f"{before}\n{block('old').splitlines()[0]}\n{after}\n"

    twice = blocks.put(blocks.put(cut, block("one")), block("two"))

    assert twice.startswith(cut)
    assert "one" not in twice.removeprefix(cut)
    assert blocks.take(twice, blocks.RULES) == cut


def test_blocks_of_two_names_stand_side_by_side() -> None:
    facts = blocks.framed(blocks.FACTS, "by a test", "a fact")

    both = blocks.put(blocks.put("Mine.\n", block("a rule")), facts)

    assert blocks.take(both, blocks.FACTS) == blocks.put("Mine.\n", block("a rule"))
    assert blocks.take(blocks.take(both, blocks.RULES), blocks.FACTS) == "Mine.\n"
