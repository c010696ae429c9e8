"""The picture of errors by block: what is red, what a cell says, and the sentence under it."""

import math

from tileviz.measured import ErrorMap
from tileviz.ui.charts.errors import errors_figure, errors_frame
from tileviz.ui.explore.error_map import words

TILE = ErrorMap((256, 200), (128, 128), ((0.2, 0.3), (math.inf, 0.1)), ((0, 0), (100, 0)))


def test_a_cell_is_coloured_by_its_share_of_wrong_elements():
    heat = errors_figure(errors_frame(TILE)).data[0]
    assert heat.z.tolist() == [[0, 0], [100 / (128 * 128), 0]]
    assert heat.colorscale[1][0] < 1 / (1 << 16), "one wrong element of a block is red"


def test_a_cell_says_its_elements_and_how_far_off_they_are():
    frame = errors_frame(TILE)
    assert list(frame["elements"]) == [128 * 128, 128 * 72, 128 * 128, 128 * 72], "blocks at the ends are smaller"
    told = errors_figure(frame).data[0].customdata
    assert told[1][0] == "rows 128-255, columns 0-127<br>100 of 16,384 wrong, NaN or infinity in it"
    assert told[0][1] == "rows 0-127, columns 128-199<br>all right, worst error 0.30 of its bound"


def test_a_right_output_is_coloured_by_its_error_over_the_bound():
    heat = errors_figure(errors_frame(ErrorMap((256, 200), (128, 128), ((0.2, 0.3), (0.9, 0.1))))).data[0]
    assert heat.z.tolist() == [[0.2, 0.3], [0.9, 0.1]] and (heat.zmin, heat.zmax) == (0, 0.9)


def test_a_vector_is_one_row_of_cells():
    figure = errors_figure(errors_frame(ErrorMap((100,), (32, 1), ((0.0,), (0.5,), (2.0,), (0.0,)), ((0,), (0,), (3,), (0,)))))
    assert figure.data[0].z.shape == (1, 4) and figure.layout.height < 120
    assert figure.data[0].customdata[0][3].startswith("elements 96-99<br>all right")


def test_rows_of_more_dimensions_are_named_by_index():
    frame = errors_frame(ErrorMap((2, 3, 4, 8), (4, 8), tuple((0.0,) for _ in range(6))))
    assert list(frame["rows"])[-1] == "(1, 2, 0)-(1, 2, 3)"


def test_the_sentence_counts_blocks_and_says_their_size():
    assert words(TILE) == "1 of 4 blocks hold wrong elements; a block is 128 \u00d7 128 of the 256 \u00d7 200 output. Grey is right."
    right = ErrorMap((100,), (2, 1), ((0.25,),) * 50)
    assert words(right) == "The worst element lies at 0.25 of its bound; a block is 2 of the 100 elements. Above 1 would be wrong."
