"""Where the errors lie, on the Explore page: shown for a wrong result, folded for a right one, absent in an older one."""

from dataclasses import replace

from tests.app.pages import opened, texts
from tests.ui import examples
from tileviz.measured import ErrorMap

WRONG = ErrorMap((128, 128), (64, 64), ((0.1, 0.1), (9.0, 0.1)), ((0, 0), (64, 0)))
RIGHT = ErrorMap((128, 128), (64, 64), ((0.1, 0.1), (0.5, 0.1)))


def test_a_wrong_result_shows_where_its_errors_lie(store):
    verdict = examples.right(ok=False, wrong_count=64, wrong_fraction=64 / 128**2, reason="one tile wrong", errors=WRONG)
    store.save_trial(replace(examples.trial(), status="wrong_result", reason="one tile wrong", verdict=verdict, timing=None, baselines=()))
    app = opened()
    assert "Where the errors lie" in [h.value for h in app.header] and len(app.get("plotly_chart")) == 1
    assert "1 of 4 blocks hold wrong elements" in texts(app)


def test_a_right_result_opens_it_on_demand(store):
    store.save_trial(examples.trial(verdict=examples.right(errors=RIGHT)))
    app = opened()
    assert [box.label for box in app.expander].count("Where the errors lie") == 1
    assert len(app.get("plotly_chart")) == 2, "nothing is drawn before it is opened"
    app.session_state["error_map"] = True
    app.run()
    assert len(app.get("plotly_chart")) == 3 and "0.50 of its bound" in texts(app)


def test_a_result_without_a_map_says_nothing_of_it(store):
    store.save_trial(examples.trial())
    assert "Where the errors lie" not in [box.label for box in opened().expander]
