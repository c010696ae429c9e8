"""The numbers on Explore without a browser: ceilings, marks, how it is measured, where the bytes go, one profiled launch."""

from dataclasses import replace

import pytest

from tests.app.pages import opened, texts
from tests.ui import examples
from tileviz.measured import Roofline


def test_a_result_shows_both_ceilings_with_their_sources(store):
    point = Roofline("compute", 0.2796, "989.4 TFLOPS float16, NVIDIA H200 datasheet", 0.3633, "761.4 TFLOPS float16, product of 4,096^3")
    store.save_trial(examples.trial(roofline=point))
    rate = opened().metric[2]
    assert rate.delta == "28 % datasheet, 36 % measured"
    assert "28.0 % of 989.4 TFLOPS float16, NVIDIA H200 datasheet" in rate.help and "36.3 % of 761.4 TFLOPS" in rate.help


def test_a_launch_bound_time_is_marked_and_not_ranked(store):
    store.save_trial(examples.trial(timing=examples.timing(1.1, launch_bound=True, floor_us=0.6)))
    app = opened()
    assert app.metric[1].delta == "launch-bound" and "an empty kernel takes 0.600" in app.metric[1].help
    assert app.metric[3].value == "-" and "not ranked" in app.metric[3].delta


def test_how_it_is_measured_reaches_the_job_the_command_and_the_link(store, with_h200):
    app = opened(l2="warm", inputs="zeros", seed="7")
    assert app.segmented_control(key="l2").value == "warm"
    assert "--inputs zeros --seed 7 --l2 warm" in app.code[0].value
    app.session_state["_repeat"] = "Link"
    app.run()
    assert "l2=warm" in app.code[0].value and "flush" not in app.code[0].value
    app.button(key="run").click().run()
    asked = store.jobs(active=True)[0].request
    assert (asked["l2"], asked["flush"], asked["inputs"], asked["seed"]) == ("warm", "read", "zeros", 7)


def test_a_seed_that_cannot_be_meant_switches_run_off():
    app = opened()
    app.text_input(key="seed").set_value("many").run()
    assert app.button(key="run").disabled
    assert "seed is 'many'; give a whole number" in texts(app).replace("\\", "")


def test_a_flush_of_a_link_that_does_not_exist_gives_a_sentence():
    assert "flush is" in "\n".join(w.value for w in opened(flush="never").warning)


def test_the_cpu_has_no_l2_to_choose_and_a_target_without_a_device_nothing_to_measure():
    assert not [c for c in opened().segmented_control if c.key in ("l2", "flush")]
    assert not [t for t in opened(target="sm_90a").text_input if t.key == "seed"]


def test_a_result_measured_otherwise_than_the_form_says_is_marked(store):
    store.save_trial(examples.trial(inputs="zeros"))
    app = opened()
    assert "with inputs zeros; the form says otherwise" in texts(app)
    app.selectbox(key="inputs").set_value("zeros").run()
    assert "Run measures again" in texts(app)


@pytest.mark.parametrize("kernel", ["gemm_bias_gelu", "softmax"])
def test_fused_kernels_show_where_the_bytes_go(store, kernel):
    store.save_trial(examples.trial(kernel))
    app = opened(kernel=kernel)
    assert len(app.get("plotly_chart")) == 3
    assert "Memory traffic, by formula" in texts(app)
    assert not [b for b in app.button if b.key == "_profile"], "a CPU has no counters"


def test_a_profile_is_asked_for_by_a_button_and_shown_with_the_result(store, with_h200):
    trial = examples.trial(device=examples.H200)
    store.save_trial(trial)
    app = opened()
    app.button(key="_profile").click().run()
    job = store.jobs(active=True)[0]
    assert (job.kind, job.request["of"], job.request["config"]) == ("profile", trial.trial, trial.config)
    store.finish(job.id, "done")
    store.save_trial(replace(trial, profile={"kernel": "gemm_kernel", "duration_us": 251.3, "created": 0.0}))
    assert "one cold launch of gemm" in texts(opened())
    store.save_trial(replace(trial, profile={"reason": "the driver lets only an administrator read performance counters"}))
    assert "Not profiled: the driver lets only an administrator" in texts(opened()).replace("\\", "")
