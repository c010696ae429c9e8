"""Every chart of every page is drawn by one function, which brings full screen, sizes and keys."""

import ast
from pathlib import Path

import pytest

from tileviz.measured import ErrorMap
from tileviz.ui.charts import screen
from tileviz.ui.charts.errors import errors_figure, errors_frame
from tileviz.ui.charts.tiles import PICTURES, tile_figure

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [*ROOT.glob("tileviz/ui/**/*.py"), *ROOT.glob("pages/*.py")]


def calls(path: Path, name: str) -> list[int]:
    """Lines that call an attribute of this name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [node.lineno for node in found if node.func.attr == name]


def test_only_the_screen_of_charts_draws_one():
    found = {path.relative_to(ROOT).as_posix() for path in SOURCES if calls(path, "plotly_chart")}
    assert found == {"tileviz/ui/charts/screen/__init__.py"}
    users = {path.stem for path in SOURCES if calls(path, "chart") or calls(path, "cells")}
    assert {"evidence", "clock_line", "error_map", "traffic", "lowering", "map_view", "views"} <= users


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_says_its_height_which_full_screen_needs(kind):
    cells = [[4 * row + column for column in range(4)] for row in range(4)]
    layout = {"buffer": "A", "kind": kind, "shape": [4, 4], "cells": cells, "registers": cells, "dtype": "float16"}
    for picture in PICTURES[kind]:
        assert tile_figure(layout, picture).layout.height + screen.BAR_PX > 200
    assert errors_figure(errors_frame(ErrorMap((4, 4), (2, 2), ((0.1, 0.1), (0.1, 9.0)), ()))).layout.height > 60
