"""A value of a JSON text is found by its path, whatever stands before it."""

import json

import pytest

from tileviz.store.json_place import line_and_column, spots

DOCUMENT = {
    "a \"name\" with \\ and \u00b5\u00b5 and {[": {"plain": [1, -2.5e3, True, None, "x,]}"]},
    "rows": [{"config": {"block_M": 1, "\u0394": "y"}, "times": [[], [[3], {}], 4]}, {"config": {}, "reason": "\U0001f600 \\\\\" ["}],
    "end": "z",
}  # fmt: skip
STYLES = {
    "one line": {}, "many lines": {"indent": 2, "ensure_ascii": False}, "tabs": {"indent": "\t"},
    "no blanks": {"separators": (",", ":"), "ensure_ascii": False},
}  # fmt: skip


def leaves(value, path="$"):
    """(path, the list or object that holds it, its key or index) of everything below a value."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        below = f"{path}[{key}]" if isinstance(value, list) else f"{path}.{key}" if key.isidentifier() and key.isascii() else f"{path}[...]"
        yield below, value, key
        yield from leaves(entry, below)


@pytest.mark.parametrize("style", STYLES)
def test_every_value_is_found_where_it_stands(style):
    for path, holder, key in leaves(DOCUMENT):
        kept, holder[key] = holder[key], "the one that is sought"
        text = json.dumps(DOCUMENT, **STYLES[style])
        holder[key] = kept
        before = text[: text.index('"the one that is sought"')]
        wanted = f"line {before.count(chr(10)) + 1:,}, column {len(before) - before.rfind(chr(10)):,}"
        content = text.encode()
        found = [spot for spot in spots(content, path) if line_and_column(content, spot.start) == wanted]
        assert len(found) == 1 and content[found[0].start : found[0].end] == b'"the one that is sought"', (style, path)
        assert "[...]" in path or len(spots(content, path)) == 1


def test_a_name_that_is_there_twice_is_found_twice_and_an_entry_of_any_name_has_its_name():
    content = b'{"a": [1], "b": 2,\n "a": [3, 4], "c.d": 5}'
    assert [content[s.start : s.end] for s in spots(content, "$.a[0]")] == [b"1", b"3"]
    assert [(s.path, content[s.start : s.end]) for s in spots(content, "$[...]")] == [
        ("$['a']", b"[1]"), ("$['b']", b"2"), ("$['a']", b"[3, 4]"), ("$['c.d']", b"5"),
    ]  # fmt: skip
    assert [line_and_column(content, s.name_at) for s in spots(content, "$.a")] == ["line 1, column 2", "line 2, column 2"]


def test_a_name_with_escapes_is_the_name_that_it_spells():
    assert len(spots(b'{"st\\u0061tus": 1, "\\ud800": 2}', "$.status")) == 1


CUT = ('{"a": 1, "b": [1, {"c": 2}, "x"], "d": tr', '{"a": {"b": "x\\"', '[1, 2, [3, {"a": "b', "", "{", '{"a"', '{"a":')


@pytest.mark.parametrize("text", CUT)
def test_a_text_that_breaks_off_anywhere_is_read_as_far_as_it_goes(text):
    for cut in range(len(text) + 1):
        content = text[:cut].encode()
        for path in ("$", "$.a", "$.a.b", "$.b[1].c", "$.d", "$[2][1].a", "$[...]"):
            for spot in spots(content, path):
                assert 0 <= spot.start <= spot.end <= len(content)


def test_very_deep_brackets_are_no_matter():
    content = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b',"b":1}'
    assert [content[s.start : s.end] for s in spots(content, "$.b")] == [b"1"]
