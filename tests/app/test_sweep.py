"""The Sweep page without a browser: set-up and count, Start, what is shown of a running and a finished sweep, clicks, tabs, files."""

import json

import pytest

from tests.app.pages import opened, texts
from tests.ui import sweep_examples
from tileviz.engine.sweeps import importance
from tileviz.engine.sweeps import results as sweep_results
from tileviz.ui.sweeps import results as page_results

TABS = tuple(page_results.TABS)


def plainly(app) -> str:
    return texts(app).replace("\\", "")


def test_an_empty_store_says_what_a_sweep_is_and_start_is_ready():
    app = opened("sweep")
    assert "A sweep tries many configs of one kernel" in texts(app)
    assert "27 to run of 3,240 requested: 3,213 the same code as another" in plainly(app)
    assert not app.button(key="sweep_start").disabled
    assert not app.error and not app.get("plotly_chart")


def test_start_puts_a_sweep_with_all_its_rows_into_the_store_and_watches_it(store):
    app = opened("sweep")
    app.button(key="sweep_start").click().run()
    (view,) = store.sweeps()
    assert view.requested == 3240 and view.counts == {"not_run": 3240} and view.state == "queued"
    assert view.request["effort"] == "quick" and view.request["budget"]["seconds"] == 10.0
    assert "queued" in plainly(app) and app.button(key="_sweep_cancel")
    assert app.query_params["sweep"] == view.id


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_draws_a_finished_sweep(store, tab):
    sweep_examples.stored(store)
    app = opened("sweep", sweep="s1", view=tab)
    assert not app.error and not app.warning, [e.value for e in (*app.error, *app.warning)]
    assert "Sweep s1" in plainly(app) and "done" in plainly(app)
