"""Words for formatters and linters are hidden, and nothing else."""

import pytest

from tileviz.lens.directives import hide


@pytest.mark.parametrize(
    ("language", "line", "shown"),
    [
        ("python", "    )  # fmt: skip", "    )"),
        ("python", "# fmt: off", ""),
        ("python", "x = f(1)  # noqa: F722, E501  # type: ignore[misc]", "x = f(1)"),
        ("python", "x = 1  # a word of sense  # fmt: skip", "x = 1  # a word of sense"),
        ("python", "x = 1  # why: noqa is not the point here", "x = 1  # why: noqa is not the point here"),
        ("python", 'say("# fmt: skip")', 'say("# fmt: skip")'),
        ("cuda", "int a;  // clang-format off", "int a;"),
        ("c", "  /* clang-format on */", ""),
        ("c", "f(); // NOLINT(bugprone-*)", "f();"),
        ("cuda", "// a comment on clang-format off by one", "// a comment on clang-format off by one"),
        ("sass", "/*0010*/ NOP ; // NOLINT", "/*0010*/ NOP ; // NOLINT"),
    ],
)
def test_what_is_hidden_of_a_line(language, line, shown):
    assert hide(f"before\n{line}\nafter", language) == f"before\n{shown}\nafter"
