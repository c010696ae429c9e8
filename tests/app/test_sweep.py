"""The Sweep page without a browser: set-up and count, Start, what is shown of a running and a finished sweep, clicks, tabs, files."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from tests import recordings
from tests.app.pages import ROOT, opened, texts
from tests.asked import resolve_sweep
from tests.ui import examples, sweep_examples
from tileviz.compiler import toolchain
from tileviz.engine.jobs import importance, race
from tileviz.engine.sweeps import client
from tileviz.records import TunedConfig
from tileviz.store import exchange
from tileviz.ui import session
from tileviz.ui.sweeps import bringing, map_view, results, space_form
from tileviz.ui.sweeps.space_words import count_words

TABS = tuple(results.TABS)


def plainly(app) -> str:
    return texts(app).replace("\\", "")


def on_the_cpu(**values) -> dict:
    """What a sweep of GEMM on the CPU counts."""
    return resolve_sweep("gemm", values=values, devices=[examples.CPU])[0].counted


def picks(app, name: str):
    return app.button_group(key=f"sw:gemm:{name}")


def test_an_empty_store_says_what_a_sweep_is_and_start_is_ready():
    app = opened("sweep")
    assert "A sweep tries many configs of one kernel" in texts(app)
    counted = on_the_cpu()
    assert counted["duplicates"] > counted["unique"] > 1 and count_words(counted) in plainly(app)
    assert "the same code as another" in plainly(app)
    assert not app.button(key="sweep_start").disabled
    assert not app.error and not app.get("plotly_chart")


def test_start_puts_a_sweep_with_all_its_rows_into_the_store_and_watches_it(store):
    app = opened("sweep")
    app.button(key="sweep_start").click().run()
    (view,) = store.sweeps()
    requested = on_the_cpu()["requested"]
    assert view.requested == requested and view.counts == {"not_run": requested} and view.state == "queued"
    assert view.request["effort"] == "quick" and view.request["budget"]["seconds"] == 10.0
    assert "queued" in plainly(app) and app.button(key="_sweep_cancel")
    assert app.query_params["sweep"] == view.id


def test_the_count_follows_the_chosen_and_typed_values(store):
    app = opened("sweep")
    app.button(key="_sw_own").click().run()
    assert "1 to run of 1 requested" in plainly(app)
    picks(app, "block_M").set_value(["64", "\u2026"])
    app.run()
    app.text_input(key="sw:gemm:_typed:block_M").set_value("96, 160").run()
    assert "3 to run of 3 requested" in plainly(app)
    app.button(key="_sw_own").click().run()
    app.text_input(key="sw:gemm:M").set_value("64..256").run()
    assert "3 to run of 3 requested over 3 problems" in plainly(app)
    app.button(key="sweep_start").click().run()
    (view,) = store.sweeps()
    assert [p["M"] for p in view.request["problems"]] == [64, 128, 256]


def test_rules_that_break_configs_are_named_with_their_counts(with_h200):
    app = opened("sweep", target="cuda:0")
    assert "break a rule" in plainly(app)
    assert any("shared memory # B is over the # B" in c.value.replace("\\", "") for c in app.caption)


@pytest.mark.parametrize(
    ("name", "typed", "sentence"),
    [("M", "64, x", "M is 'x'"), ("M", "", "M: give at least one value"), ("M", "0", "M is 0"), ("M", "1..2000000000", "problem")],
)
def test_what_cannot_be_meant_is_a_sentence_and_start_is_off(name, typed, sentence):
    app = opened("sweep")
    app.text_input(key=f"sw:gemm:{name}").set_value(typed).run()
    if typed != "1..2000000000":
        assert sentence in "\n".join(e.value for e in app.error).replace("\\", "")
        assert app.button(key="sweep_start").disabled
    assert not app.exception


def test_an_architecture_without_a_device_says_what_to_choose():
    app = opened("sweep", target="sm_90a")
    assert "a sweep measures, and sm_90a is no device of this machine; choose one of cpu" in app.error[0].value.replace("\\", "")
    assert app.button(key="sweep_start").disabled


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_draws_a_finished_sweep(store, tab):
    sweep_examples.stored(store)
    app = opened("sweep", sweep="s1", view=tab)
    assert not app.error and not app.warning, [e.value for e in (*app.error, *app.warning)]
    assert "Sweep s1" in plainly(app) and "done" in plainly(app)
    more = {"Table": 1, "Progress": 2, "Knobs": 2, "Parallel": 1, "Resources": 1, "Roofline": 1}.get(tab, 0)
    assert len(app.get("plotly_chart")) == 1 + more, "the heatmap, and the open tab alone"


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_draws_a_sweep_without_any_time(store, tab):
    sweep_examples.stored(store, measured=0.0, state="cancelled")
    app = opened("sweep", sweep="s1", view=tab)
    assert not app.error, [e.value for e in app.error]
    assert "No config opened" in texts(app)


def test_several_problems_have_a_chooser_and_shapes(store):
    problems = [{**sweep_examples.PROBLEM, "M": m} for m in (512, 1024)]
    sweep_examples.stored(store, problems=problems)
    app = opened("sweep", sweep="s1", view="Shapes")
    assert len(app.get("plotly_chart")) == 2
    app.selectbox(key="sweep_problem").set_value(1).run()
    assert "Config 179, the best" in texts(app), "ordinals go on over the problems"


def test_a_link_opens_a_config_with_its_difference_from_the_best(store):
    sweep_examples.stored(store)
    app = opened("sweep", sweep="s1", config="0")
    assert "Config 0" in texts(app)
    assert "\u00d7 the best's time" in app.metric[0].delta


def test_a_link_to_a_pruned_config_says_its_rule(store):
    sweep_examples.stored(store)
    app = opened("sweep", sweep="s1", config="96")
    said = "\n".join(w.value for w in app.warning).replace("\\", "")
    assert "breaks a rule" in said and "262,144 B" in said


def test_a_link_to_a_sweep_that_is_not_here_says_so_and_draws_the_page():
    app = opened("sweep", sweep="nothing")
    assert "The link's sweep 'nothing' is not in this store" in app.warning[0].value.replace("\\", "")
    assert app.button(key="sweep_start")


def test_a_click_on_any_chart_opens_its_config():
    """Case U01: the point of the scatter over the cells carries the config's number."""
    opened_configs = []
    event = {"selection": {"points": [{"customdata": [71], "x": "128", "y": "256"}]}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(map_view.address, "open_config", opened_configs.append)
        map_view.open_points(event)
        map_view.open_points({"selection": {"points": [{"customdata": 7}]}})
        map_view.open_points({"selection": {"points": []}})
    assert opened_configs == [71, 7], "a second click on the same cell comes without points and changes nothing"


def test_the_axes_come_from_the_address_and_the_caption_says_the_rest(store):
    sweep_examples.stored(store)
    app = opened("sweep", sweep="s1", map_x="threads", map_y="num_stages", map_by="block_K")
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert figure["layout"]["xaxis"]["categoryarray"] == ["128", "256"]
    assert "Best over block_M, block_N." in plainly(app)


def test_axes_of_another_sweep_fall_back(store):
    sweep_examples.stored(store)
    app = opened("sweep", sweep="s1", map_x="no_knob")
    assert app.selectbox(key="map_x").value == "block_M"


def test_the_kernel_of_a_linked_sweep_is_in_the_form_and_its_settings_can_be_used(store):
    sweep_examples.stored(store, values={**sweep_examples.VALUES, "block_M": (48, 96)})
    app = opened("sweep", sweep="s1")
    app.button(key="_sweep_load").click().run()
    assert picks(app, "block_M").value == ["48", "96"]
    assert app.text_input(key="sw:gemm:M").value == "4096"
    assert app.button_group(key="sw_effort").value == "full"


def test_a_running_sweep_can_be_cancelled_and_one_that_stopped_resumed(store):
    sweep_examples.stored(store, measured=0.5, state="running")
    job = store.submit("sweep", {"sweep": "s1", "device": "cuda:0"})
    store.start_sweep("s1", job=job)
    app = opened("sweep", sweep="s1")
    app.button(key="_sweep_cancel").click().run()
    app.run()
    assert store.sweep("s1").state == "cancelled" and "cancelled" in plainly(app)
    app.button(key="_sweep_resume").click().run()
    assert store.sweep("s1").state == "queued" and app.button(key="_sweep_cancel")


def test_charts_of_a_running_sweep_stand_still_until_they_are_refreshed(store):
    sweep_examples.stored(store, measured=0.5, state="running")
    app = opened("sweep", sweep="s1")
    before = app.get("plotly_chart")[0].proto.spec
    late = sweep_examples.rows()[107]
    trial = examples.trial(trial="late", config=late.config, problem=sweep_examples.PROBLEM, device=examples.H200)
    store.save_sweep_trials("s1", [((107,), trial)])
    app.run()
    assert app.get("plotly_chart")[0].proto.spec == before
    app.button(key="_sweep_refresh").click().run()
    assert app.get("plotly_chart")[0].proto.spec != before


def test_importance_is_asked_for_and_shown_when_it_is_stored(store):
    sweep_examples.stored(store)
    app = opened("sweep", sweep="s1", view="Knobs")
    app.button(key="_importance").click().run()
    (job,) = store.jobs()
    assert job.kind == importance.KIND and job.request["sweep"] == "s1"
    store.finish(job.id, "done")
    store.note_sweep("s1", notes={importance.KIND: {"of": 94, "shares": {"0": {"block_M": 0.6, "block_N": 0.4}}}})
    app.run()
    assert len(app.get("plotly_chart")) == 4 and "From 94 timed configs." in texts(app)


def test_an_exported_file_comes_back_as_a_sweep(store):
    sweep_examples.stored(store)
    text = exchange.written(store.sweep("s1"), store.sweep_frame("s1"), "json")
    opened_views = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bringing.address, "open_sweep", opened_views.append)
        bringing.bring(text.encode(), "mine.json")
    (view,) = opened_views
    assert view.request["imported"] == "mine.json" and view.counts == store.sweep("s1").counts
    app = opened("sweep", sweep=view.id)
    assert "imported from mine.json" in plainly(app) and len(app.get("plotly_chart")) == 2


def test_a_sweep_that_was_deleted_while_it_was_brought_in_opens_nothing(store):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bringing.results, "bring_in_content", lambda *_: "gone")
        patch.setattr(bringing.address, "open_sweep", pytest.fail)
        bringing.bring(b"{}", "mine.json")


def test_a_link_to_a_sweep_says_its_kernel_and_device_before_the_form_is_drawn(store):
    """A browser once drew the form with its own default kernel, sent that back, and another kernel's sweep opened."""
    sweep = client.submit(store, *resolve_sweep("vector_add", devices=[examples.CPU]))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120).switch_page("pages/sweep.py")
    app.query_params["sweep"] = sweep
    app.run()
    assert not app.exception and app.title[0].value == "Sweep of Vector add on cpu"
    assert (app.query_params["sweep"], app.query_params["kernel"]) == (sweep, "vector_add")


def test_explore_does_not_list_the_trials_of_a_sweep(store):
    sweep_examples.stored(store)
    store.save_sweep_trials("s1", [((71,), store.trial("t71"))])
    assert store.trials("gemm") and not store.trials("gemm", sweeps=False)


def test_a_sweep_of_a_kernel_that_is_not_here_is_shown_without_its_program(store):
    sweep_examples.stored(store, kernel="theirs")
    for tab in ("Roofline", "Take it along"):
        app = opened("sweep", sweep="s1", view=tab)
        assert not app.error and "theirs" in plainly(app)


def test_a_loaded_set_up_makes_the_same_space_again(store):
    space = sweep_examples.request(problems=[{**sweep_examples.PROBLEM, "M": m, "N": m} for m in (512, 1024)])
    kernel = space_form.forms.kernels.kernel("gemm")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space_form.st, "session_state", state := {})
        space_form.load(kernel, space)
    assert state["sw:gemm:M"] == "512, 1024" and state["sw:gemm:_how"] == "in step"
    assert state["sw:gemm:num_stages"] == ["2", "3", "4"]


def test_compiler_flags_of_a_loaded_sweep_are_left_out_with_a_sentence(store):
    values = {**sweep_examples.VALUES, "tl.device_compile_flags": ["--maxrregcount=64,-v"], "tl.enable_fast_math": [True, False]}
    sweep_examples.stored(store, values=values)
    app = opened("sweep", sweep="s1")
    app.button(key="_sweep_load").click().run()
    assert not app.exception and "tl.device_compile_flags can be given on the command line only" in plainly(app)
    assert app.multiselect(key="sw:gemm:_passes").value == ["tl.enable_fast_math"]


def test_the_page_says_which_knobs_vary_and_what_its_two_buttons_did(store):
    app = opened("sweep")
    assert "All values: each knob takes every choice for this target." in plainly(app)
    app.button(key="_sw_own").click().run()
    assert "Defaults only: no knob varies." in plainly(app)
    picks(app, "block_M").set_value(["64", "128"])
    app.run()
    assert "block_M varies; " in plainly(app)
    app.button(key="_sw_all").click().run()
    assert "All values: each knob takes every choice for this target." in plainly(app)


def test_defaults_only_are_those_of_the_problem_that_is_typed(store, with_h200):
    problem = {name: "8192" for name in "MNK"}
    kernel = space_form.forms.kernels.kernel("gemm")
    start = kernel.config({"panel_size": 16}, recordings.SM_90A, kernel.problem(problem))
    large = kernel.problem(problem)
    store.save_tuned(TunedConfig("p1", "gemm", large, start, "sm_90a", examples.H200.name, 1.0))
    app = opened("sweep", target="cuda:0")
    for name in problem:
        app.text_input(key=f"sw:gemm:{name}").set_value("8192")
    app.run()
    app.button(key="_sw_own").click().run()
    assert picks(app, "panel_size").value == ["16"]


def test_start_is_off_with_the_reason_when_nothing_can_run_here(monkeypatch):
    monkeypatch.setattr(toolchain, "why_nothing_runs", lambda: "no C++ compiler: apt-get install g++, or set CXX")
    app = opened("sweep")
    assert app.button(key="sweep_start").disabled
    assert "Start is off: no C++ compiler: apt-get install g++, or set CXX." in app.error[0].value.replace("\\", "")


def test_budgets_and_strategy_that_are_chosen_are_what_start_hands_over(store):
    app = opened("sweep")
    app.button(key="_sw_own").click().run()
    picks(app, "block_M").set_value(["64", "128", "256"])
    app.selectbox(key="sw_strategy").set_value("tpe")
    for name, value in (("trials", 2), ("seconds", 30), ("patience", 5)):
        app.number_input(key=f"sw_{name}").set_value(value)
    app.number_input(key="sw_seed").set_value(7).run()
    assert "at most 2 of them, at most 30 s of search, until the best has not moved for 5 configs" in plainly(app)
    app.button(key="sweep_start").click().run()
    (view,) = store.sweeps()
    assert view.request["budget"] == {"trials": 2, "seconds": 30, "patience": 5}
    assert (view.request["strategy"], view.request["seed"], view.requested) == ("tpe", 7, 3)


def test_word_knobs_are_axes_filters_and_small_multiples(store):
    values = {"variant": ("plain", "persistent"), "block_M": (64, 128), "block_N": (64, 128, 256), "block_K": (64,), "num_stages": (3, 4)}
    sweep_examples.stored(store, values={**values, "threads": (128, 256)})
    app = opened("sweep", sweep="s1", map_x="variant", map_y="block_N", map_by="block_M")
    figure = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert figure["layout"]["xaxis"]["categoryarray"] == ["plain", "persistent"] or figure["layout"]["xaxis"]["categoryarray"] == [
        "persistent",
        "plain",
    ]
    app = opened("sweep", sweep="s1", map_x="block_M", map_y="block_N")
    app.selectbox(key="_map_fix:variant").set_value("persistent").run()
    assert "variant=persistent fixed" in plainly(app)
    app = opened("sweep", sweep="s1", view="Knobs")
    assert len(app.get("plotly_chart")) == 3


def test_the_card_says_tflops_for_gemm_and_bandwidth_for_a_kernel_that_memory_binds(store):
    sweep_examples.stored(store)
    app = opened("sweep", sweep="s1")
    rate = next(metric for metric in app.metric if metric.label == "Rate")
    assert rate.value.endswith(" TFLOPS")
    rows = sweep_examples.rows()
    for row in rows:
        if row.results:
            row.results.update(tflops=None, gbps=4_270.0)
    store.create_sweep("s2", sweep_examples.request(kernel="softmax"), rows, state="done")
    app = opened("sweep", sweep="s2")
    assert next(metric for metric in app.metric if metric.label == "Rate").value == "4.27 TB/s"


def test_ties_are_told_as_ties_in_the_card_the_table_and_the_summary(store):
    sweep_examples.stored(store)
    store.note_sweep("s1", tied={0: ["t71", "t70"]})
    app = opened("sweep", sweep="s1")
    assert "Config 71, the best (tied with 1)" in plainly(app) and "tied with 1 other" in plainly(app)
    assert "= tied: 2 configs that the best one does not clearly beat" in plainly(app)
    assert opened("sweep", sweep="s1", config="70").markdown and "Config 70, tied with the best" in plainly(
        opened("sweep", sweep="s1", config="70")
    )


def test_a_race_against_tilelangs_autotuner_is_offered_where_it_can_run_and_told(store, with_h200):
    sweep_examples.stored(store)
    app = opened("sweep", sweep="s1", view="Progress", target="cuda:0")
    app.button(key="_race").click().run()
    (job,) = store.jobs()
    assert job.kind == race.KIND and job.request["sweep"] == "s1" and job.request["problem"] == 0
    store.finish(job.id, "done")
    found = {"config": {"block_M": 128}, "says_us": 181.0, "wall_s": 52.3, "tried": 82, "failed": 0, "measured_us": 183.0}
    found |= {"ours_us": 179.0, "ours_config": {"block_M": 256}, "same": False, "tied": False, "sweep_s": 12.0}
    store.note_sweep("s1", notes={race.note_name(0): found})
    app.run()
    assert "TileLang AutoTuner: 52 s for 82 configs, best block_M=128, 181 \u00b5s as it says and 183 \u00b5s by our timer." in plainly(app)
    assert "This sweep: 12 s of search, best 179 \u00b5s: block_M=256, faster." in plainly(app)
    assert app.button(key="_race").label == "Race it again"


def test_a_race_can_be_asked_for_with_the_sweep(store, with_h200):
    app = opened("sweep", target="cuda:0")
    app.checkbox(key="sw_race").check().run()
    app.button(key="sweep_start").click().run()
    assert sorted(job.kind for job in store.jobs()) == ["rival", "sweep"]


def test_on_the_cpu_target_one_sentence_says_why_there_is_no_race(store):
    sweep_examples.stored(store, target="cpu", device="cpu")
    app = opened("sweep", sweep="s1", view="Progress")
    assert "No race here: TileLang's AutoTuner needs an NVIDIA GPU" in plainly(app)
    assert "No race against TileLang's autotune here" in plainly(app)
    assert not [button for button in app.button if button.key == "_race"]


def test_what_was_open_is_open_again_after_a_visit_to_explore(store):
    sweep_examples.stored(store)
    sweep_examples.stored(store, "newer")
    app = opened("sweep", sweep="s1", config="12")
    app.switch_page("pages/explore.py").run()
    app.query_params.clear()
    app.switch_page("pages/sweep.py").run()
    assert "Sweep s1" in plainly(app) and "Config 12" in plainly(app)
    assert app.query_params["sweep"] == ["s1"] or app.query_params["sweep"] == "s1"


@pytest.mark.parametrize("page, shown", [("codeview", None), ("explore", "t12")])
def test_a_cell_goes_to_its_code_and_its_result_by_its_trial(page, shown, store, with_h200):
    sweep_examples.stored(store)
    table = {row.ordinal: row for row in sweep_examples.rows()}
    problem, config = sweep_examples.PROBLEM, table[12].config
    store.save_trial(examples.trial("gemm", problem=problem, config=config, device=examples.H200, trial="t12"))
    app = opened("sweep", sweep="s1", config="12")
    app.session_state[session.FOLLOWED] = "t12"
    app.query_params["trial"] = "t12"
    app.switch_page(f"pages/{page}.py").run()
    assert session.FOLLOWED not in app.session_state
    assert app.session_state["block_M"] == str(config["block_M"]) and app.session_state["M"] == str(problem["M"])
    assert app.selectbox(key="target").value == "cuda:0"
    assert app.query_params.get("trial") in ([shown] if shown else None, shown)
