"""TileLang's own pages in the Lowering tab: made on demand, shown in a frame, absent where there are none."""

import json
from dataclasses import replace

import pytest

from tests.app.pages import opened, texts
from tests.ui import code_examples, examples
from tileviz.engine.jobs import structure
from tileviz.ui.codeview import reports


@pytest.fixture
def read(store):
    """A compiled GEMM for sm_90a whose lowering was read."""
    asked = code_examples.request()
    store.save_artifact(code_examples.artifact())
    store.files.write_more(asked.key, {"passes.json": "[]", "layouts.json": "[]", "lowering.html": "<html></html>"})
    return asked


def test_the_visualizer_is_made_on_demand(store, read):
    app = opened("codeview", **code_examples.words(read), tab="Lowering")
    app.button(key="make_structure").click().run()
    (job,) = store.jobs(active=True)
    assert (job.kind, job.request["config"]) == (structure.KIND, json.loads(json.dumps(read.config)))
    assert "queued" in texts(app), "it is watched"


def test_a_page_that_was_made_is_shown_in_a_frame_when_asked(store, read):
    store.files.write_more(read.key, {structure.PAGE: "<html><b>tree</b></html>"})
    app = opened("codeview", **code_examples.words(read), tab="Lowering")
    assert not app.get("iframe") and "make_structure" not in [button.key for button in app.button]
    app.toggle(key="show_structure").set_value(True).run()
    assert len(app.get("iframe")) == 1
    app.toggle(key="show_report").set_value(True).run()
    assert len(app.get("iframe")) == 2, "beside TileLang's own report"


def test_a_large_page_is_a_download_only(store, read, monkeypatch):
    monkeypatch.setattr(reports, "MOST_BYTES", 10)
    store.files.write_more(read.key, {structure.PAGE: "<html>long</html>"})
    app = opened("codeview", **code_examples.words(read), tab="Lowering")
    assert "show_structure" not in [toggle.key for toggle in app.toggle]
    assert [button.label for button in app.get("download_button")].count("Download it (17 B)") == 1


def test_the_cpu_target_has_none(store):
    trial = examples.trial()
    store.save_artifact(replace(examples.artifact(trial), lines={"source": (0, 0)}, program="def program():\n    pass\n"))
    store.files.write_more(trial.key, {"passes.json": "[]", "layouts.json": "[]"})
    app = opened("codeview", tab="Lowering")
    assert "make_structure" not in [button.key for button in app.button]
