"""Outside text stays text."""

import pytest

from tileviz.ui.parts.trouble import guarded, plain


@pytest.mark.parametrize("mark", list("`*_[]<>$:|~#"))
def test_every_mark_of_markdown_is_escaped(mark):
    assert plain(f"a{mark}b") == f"a\\{mark}b"


def test_numbers_and_plain_words_are_left_as_they_are():
    assert plain("98,304 of 232,448 B, 1.5 s") == "98,304 of 232,448 B, 1.5 s"


def test_a_guarded_function_gives_what_it_gives():
    assert guarded(lambda a: a + 1)(2) == 3
