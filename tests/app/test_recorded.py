"""Every page with the recorded results: alone for a newcomer, beside the user's own, and never taken for them."""

import pytest

from tests import recordings
from tests.app.pages import opened, texts
from tests.asked import resolve
from tests.recordings import DAY, SMALL, SQUARE
from tests.ui import examples
from tileviz import kernels
from tileviz.engine import presets

RECORDED = f"recorded on NVIDIA H200, {DAY}"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return recordings.made(tmp_path_factory.mktemp("gpu"), (SQUARE, SMALL))


@pytest.fixture(autouse=True)
def with_recorded(one_cpu, file, monkeypatch):
    monkeypatch.setenv("TILEVIZ_RECORDED", str(file))


def plainly(app) -> str:
    return texts(app).replace("\\", "")


def labels(app) -> list[str]:
    return [button.label for button in app.button]


def charts(app) -> list[str]:
    return [chart.proto.id for chart in app.get("plotly_chart")]


def table(app, column: str):
    return next(frame.value for frame in app.dataframe if column in frame.value.columns)


# Explore


def test_a_newcomer_sees_a_recorded_result_and_that_it_is_not_of_this_machine():
    app = opened()
    said = plainly(app)
    assert f"{RECORDED[:1].upper()}{RECORDED[1:]}: not measured on this machine" in said
    assert "M=4096 N=4096 K=4096 dtype=float16" in said and len(charts(app)) == 2
    assert {metric.label for metric in app.metric} >= {"Latency", "Rate"}
    assert app.button(key="run").label == "Run" and "Set these knobs" in labels(app)


def test_its_knobs_can_be_set_and_it_is_then_shown_for_them():
    app = opened()
    app.button(key="recorded_set").click().run()
    assert app.selectbox(key="target").value == "sm_90a" and app.text_input(key="M").value == "4096"
    assert "not measured on this machine. No such device here" in plainly(app)
    assert app.query_params["trial"] == "r1-3" and not app.exception


def test_a_link_to_a_recorded_result_opens_it_on_any_machine():
    app = opened(trial="r1-3")
    assert app.selectbox(key="target").value == "sm_90a" and "not measured on this machine" in plainly(app) and not app.warning


def test_another_kernel_has_none_and_shows_the_program_alone():
    app = opened(kernel="softmax")
    assert "recorded" not in plainly(app).lower() and not charts(app)


def test_knobs_start_from_the_nearest_preset_and_the_page_says_so():
    app = opened(target="sm_90a")
    assert f"Preset {RECORDED}, for this problem" in plainly(app)
    assert (app.button_group(key="block_M").value, app.button_group(key="block_N").value) == ("128", "128")
    near = opened(target="sm_90a", M="2048", N="2048", K="1024")
    assert f"Preset {RECORDED}, at M=1024 N=1024 K=1024" in plainly(near)


def test_there_is_a_way_back_to_the_plain_defaults_and_to_the_preset():
    app = opened(target="sm_90a")
    app.button(key="_start_plain").click().run()
    plain = kernels.kernel("gemm").config({}, recordings.SM_90A, kernels.kernel("gemm").problem(SQUARE))
    assert app.button_group(key="block_N").value == str(plain["block_N"]) == "256"
    assert "Plain defaults. There is a preset" in plainly(app) and app.query_params["base"] == "plain"
    app.button(key="_start_preset").click().run()
    assert app.button_group(key="block_N").value == "128" and "base" not in app.query_params


def test_a_link_keeps_the_plain_defaults():
    app = opened(target="sm_90a", base="plain")
    assert app.button_group(key="block_N").value == "256" and not app.warning


def test_a_moved_knob_is_counted_and_can_be_taken_back():
    app = opened(target="sm_90a")
    assert "_start_preset" not in [button.key for button in app.button]
    before = app.button_group(key="panel_size").value
    app.button_group(key="panel_size").set_value("4").run()
    assert "for this problem; 1 knob changed" in plainly(app)
    app.button(key="_start_preset").click().run()
    assert app.button_group(key="panel_size").value == before != "4" and "changed" not in plainly(app)


def test_knobs_follow_the_problem_to_its_preset_but_for_those_that_were_touched(store):
    recordings.sweep(store, ({"M": 8192, "N": 8192, "K": 8192},), "own", best=(64, 128))
    presets.keep(store, "own")
    app = opened(target="sm_90a")
    app.button_group(key="panel_size").set_value("4").run()
    for name in "MNK":
        app.text_input(key=name).set_value("8192")
    app.run()
    assert "Preset from your sweep on NVIDIA H200 for this problem; 1 knob changed" in plainly(app)
    assert (app.button_group(key="block_M").value, app.button_group(key="panel_size").value) == ("64", "4")


def test_a_tuned_problem_is_offered_among_the_presets():
    app = opened(target="sm_90a")
    menu = next(item for item in app.get("menu_button") if item.proto.label == "Known sizes")
    assert "recorded: M=1024 N=1024 K=1024 dtype=float16 layout=NN" in list(menu.proto.options)


def test_the_form_and_the_command_line_agree():
    app = opened(target="sm_90a", M="2048")
    from tileviz.store import StoreWithRecorded

    asked = resolve(
        "gemm", {"M": 2048}, kind="compile", target="sm_90a", devices=[examples.CPU], presets=presets.known(StoreWithRecorded())
    )
    for name in ("block_M", "block_N", "block_K", "num_stages", "threads"):
        assert app.button_group(key=name).value == str(asked.config[name])


def test_ones_own_result_stands_first_with_the_recorded_ones_beside_it(store):
    store.save_trial(examples.trial())
    app = opened()
    beside = table(app, "result")
    assert list(beside["result"]) == ["shown above", "recorded, best of its sweep"]
    assert list(beside["on"]) == ["cpu", "NVIDIA H200"] and "0.9" in beside["against the fastest baseline"][1]
    assert "not measured on this machine" not in plainly(app)


def test_on_the_same_device_the_same_config_is_set_beside_it(store, with_h200):
    kernel = kernels.kernel("gemm")
    config = recordings.config_of(kernel.problem(SQUARE), block_M=128, block_N=64)
    store.save_trial(examples.trial(problem=SQUARE, config=config, device=examples.H200, trial="mine"))
    words = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in config.items()}
    app = opened(target="cuda:0", **words)
    assert list(table(app, "result")["result"]) == ["shown above", "recorded, same config", "recorded, best of its sweep"]


def test_a_recorded_launch_is_never_profiled_here():
    app = opened(target="sm_90a")
    assert "not measured on this machine" in plainly(app) and "_profile" not in [button.key for button in app.button]


# Sweep


def test_a_newcomer_sees_a_recorded_sweep_with_its_heatmap():
    app = opened("sweep")
    said = plainly(app)
    assert "this sweep comes with tileviz and was not measured on this machine" in said
    assert "No sweep of gemm was run here yet: **Start** searches the space on the left on cpu" in said
    assert app.get("plotly_chart") and app.query_params["sweep"] == "r1"
    assert not {"_sweep_resume", "_sweep_cancel"} & {button.key for button in app.button}
    assert app.selectbox(key="target").value == "cpu"


def test_the_list_holds_the_recorded_ones_after_ones_own(store):
    recordings.sweep(store, (SQUARE,), "own")
    app = opened("sweep")
    listed = table(app, "sweep")
    assert list(listed["sweep"]) == ["own", "r1"] and list(listed["state"]) == ["done", "recorded"]
    assert app.query_params["sweep"] == "own" and "comes with tileviz" not in plainly(app)


@pytest.mark.parametrize("view", ["Table", "Progress", "Knobs", "Shapes", "Roofline", "Failures", "Take it along"])
def test_every_view_of_a_recorded_sweep_is_drawn(view):
    app = opened("sweep", sweep="r1", view=view)
    assert not app.exception and not app.error


def test_a_recorded_sweep_is_taken_along_as_a_file_and_not_kept_again():
    app = opened("sweep", sweep="r1", view="Take it along")
    assert "2 of its configs are presets that come with tileviz" in plainly(app)
    assert not {"_preset_keep", "_preset_forget"} & {button.key for button in app.button}
    shell = next(code.value for code in app.code if "tileviz show" in code.value)
    assert "--resume" not in shell and not any("NVIDIA H200" in code.value for code in app.code)


def test_the_best_of_ones_own_sweep_is_kept_and_forgotten_by_a_click(store):
    recordings.sweep(store, (SQUARE, SMALL), "own")
    app = opened("sweep", sweep="own", view="Take it along")
    app.button(key="_preset_keep").click().run()
    assert {tuned.problem["M"] for tuned in store.tuned("gemm")} == {4096, 1024}
    assert "Keep them again" in labels(app)
    app.button(key="_preset_forget").click().run()
    assert store.tuned() == []


# Code


def test_a_newcomer_reads_recorded_code_without_a_compiler():
    app = opened("codeview")
    said = plainly(app)
    assert f"{RECORDED[:1].upper()}{RECORDED[1:]}: code for sm_90a, made there by" in said and "TileLang 0.1.15" in said
    assert "Tensor cores" in said and "Nothing of this kernel was compiled on this machine yet" in said


def test_the_code_of_the_forms_own_knobs_is_there_at_once():
    app = opened("codeview", target="sm_90a")
    assert "Compile makes it here" in plainly(app) and "Nothing of this kernel" not in plainly(app)
    assert app.get("tab")


def test_recorded_code_is_among_what_can_be_loaded():
    app = opened("codeview")
    chooser = app.selectbox(key="_recent")
    assert sum(RECORDED in option for option in chooser.options) == 2
    app.selectbox(key="_recent").select("r1-3").run()
    assert app.selectbox(key="target").value == "sm_90a" and app.text_input(key="M").value == "4096"


def test_results_of_an_earlier_form_of_the_kernel_are_shown_but_no_knob_starts_from_them(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEVIZ_RECORDED", str(recordings.made(tmp_path, knob_of_old=3)))
    for page in ("", "codeview", "sweep"):
        app = opened(page, target="sm_90a")
        assert "ecorded on NVIDIA H200" in plainly(app) and "Preset recorded" not in plainly(app)
    app = opened()
    app.button(key="recorded_set").click().run()
    assert "cannot be set here" in plainly(app)


# System


def test_the_recorded_device_stands_beside_those_of_this_machine():
    app = opened("system")
    said = plainly(app)
    assert "NVIDIA H200, recorded: not of this machine; target sm_90a" in said and "driver 580.1" in said
    assert "1 of gemm" in said and "measure_NVIDIA H200" not in [button.key for button in app.button]
    facts = [dict(f.value.itertuples(index=False)) for f in app.dataframe if list(f.value.columns) == ["fact", "value"]]
    assert any(found.get("SMs") == "132" for found in facts)
