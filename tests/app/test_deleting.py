"""Delete and undo on the pages: a sweep, a run of Explore, compiled code."""

from tests.app.pages import opened, texts
from tests.ui import examples, sweep_examples
from tileviz.records import Artifact
from tileviz.ui import system
from tileviz.ui.parts.deleting import words


def plainly(app) -> str:
    return texts(app).replace("\\", "")


def test_a_sweep_is_deleted_and_taken_back(store):
    sweep_examples.stored(store)
    app = opened("sweep", sweep="s1")
    app.button(key="_sweep_delete").click().run()
    assert store.sweeps() == [] and "A sweep tries many configs" in plainly(app)
    assert "Deleted: sweep s1 (gemm on cuda:0, 108 configs)." in plainly(app)
    app.button(key="_undo").click().run()
    assert store.sweep("s1") is not None and len(app.get("plotly_chart")) == 2 and "Deleted:" not in plainly(app)


def test_a_sweep_at_work_has_no_button_that_deletes_it(store):
    sweep_examples.stored(store, measured=0.5, state="running")
    store.start_sweep("s1", job=store.submit("sweep", {"sweep": "s1", "device": "cuda:0"}))
    app = opened("sweep", sweep="s1")
    assert not [button for button in app.button if button.key == "_sweep_delete"]


def test_the_chosen_one_of_the_last_runs_is_deleted_and_taken_back(store):
    store.save_trial(examples.trial(trial="one"))
    app = opened("explore")
    assert not [button for button in app.button if button.key == "_run_delete"], "none is chosen"
    app.session_state["last_runs"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    app.run()
    app.button(key="_run_delete").click().run()
    assert store.trial("one") is None and "Deleted: run one" in plainly(app)
    app.button(key="_undo").click().run()
    assert store.trial("one") is not None and not app.error


def test_system_lists_compiled_code_and_what_was_deleted(store):
    for key in ("aaaa", "bbbb"):
        store.save_artifact(Artifact(key, "cpu", "int x;", "c", compiler="g++ 12"))
    store.save_trial(examples.trial(trial="one", artifact="bbbb"))
    app = opened("system")
    assert app.button(key="_code_delete").disabled
    frame = system.code_frame(store.code_entries())
    assert list(frame["artifact"]) == ["bbbb", "aaaa"] and list(frame["runs with it"]) == ["1", "0"] and frame.at[0, "kernel"] != "-"
    store.delete(["aaaa"])
    app.run()
    assert "code aaaa: code for cpu" in plainly(app)
    app.button(key="undo_aaaa").click().run()
    assert store.artifact("aaaa") is not None
    store.delete(["aaaa"])
    app.run()
    app.button(key="empty_trash").click().run()
    assert store.trash() == [] and not app.error


def test_a_long_list_of_what_was_deleted_is_short(store):
    for name in "abcde":
        store.save_trial(examples.trial(trial=name))
    assert words(store.delete(list("abcde"))).endswith(" and 2 more.")
