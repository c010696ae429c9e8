"""Values of arguments, read backwards from call sites."""

import pytest

from tileviz.kernels.opened.call_sites import CallSites, Unresolved

TEXT = """
WIDTH = 8

def kernel(n, m, block=4, **more): ...

def helper(n, block, flags={"fast": True}):
    for m in (n * 2, 5):
        kernel(n, m, block=block, **flags)

def main():
    rows, (columns, _) = 3, (WIDTH, 0)
    sizes = [rows, columns]
    helper(rows + 1, block=max(sizes))
    kernel(*sizes)

def starred():
    first, *middle, (*_, last) = range(1, 5), 2, 3, [4, WIDTH]
    kernel(middle, last)

async def waiting(n=6):
    def inside():
        kernel(n, 1)
    kernel(n, WIDTH)

def options():
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=7)
    args = parser.parse_args()
    kernel.compile(args.n, [i for i in range(args.n)][-1])

def unknown(n):
    kernel(n, 1)

def loop(n):
    n = n
    kernel(n, unheard_of)
"""


@pytest.fixture
def sites() -> CallSites:
    names: dict = {}
    exec(TEXT, names)
    return CallSites(TEXT, names)


def of(sites, function: str):
    """Arguments of the call of `kernel` in a function."""
    site = next(site for site, _ in sites.of("kernel") if sites.scopes[site] is sites.functions[function])
    return sites.arguments(site)


def test_values_come_through_a_helper_a_loop_and_keywords_in_a_dict(sites):
    assert of(sites, "helper") == ([4, 8], {"block": 8, "fast": True})


def test_a_starred_list_and_a_nested_assignment_are_followed(sites):
    assert of(sites, "main") == ([3, 8], {})


def test_what_lies_under_a_star_is_one_list_and_what_follows_it_is_counted_from_the_end(sites):
    assert of(sites, "starred") == ([[2, 3], 8], {})


@pytest.mark.parametrize(("function", "args"), [("waiting", [6, 8]), ("inside", [6, 1])])
def test_an_async_function_has_parameters_as_any_other(sites, function, args):
    assert of(sites, function) == (args, {})


def test_options_have_their_defaults(sites):
    assert of(sites, "options") == ([7, 6], {})


@pytest.mark.parametrize(
    ("function", "words"),
    [("unknown", "n of unknown has no value"), ("loop", "of loop has no value|unheard_of")],
)
def test_what_the_text_does_not_tell_is_named(sites, function, words):
    with pytest.raises(Unresolved, match=words):
        of(sites, function)


def test_the_ways_to_call_a_factory_are_told_apart(sites):
    assert [way for _, way in sites.of("kernel")].count("compile") == 1
