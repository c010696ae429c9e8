"""The Explore page without a browser: what it shows for an empty store, a stored result, a bad link, other knobs."""

import time
from dataclasses import replace

import pytest

from tests.app.pages import opened, texts
from tests.ui import examples
from tileviz import kernels
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.built_in import BuiltIn
from tileviz.kernels.kept import Kept
from tileviz.measured import Comparison, Determinism, Roofline
from tileviz.ui.explore import page
from tileviz.ui.form import sidebar, state


def test_an_empty_store_shows_the_program_and_what_run_does():
    app = opened()
    assert "tileviz shows what a GPU kernel written in TileLang becomes" in texts(app)
    assert app.button(key="run").label == "Run"
    assert not app.button(key="run").disabled
    assert app.get("bidi_component"), "the code pane with the tile program"


@pytest.mark.parametrize("kernel", examples.every_kernel())
def test_every_kernel_has_a_form_whose_defaults_can_run(kernel):
    app = opened(kernel=kernel)
    assert app.selectbox(key="kernel").value == kernel
    assert not app.button(key="run").disabled


def test_without_a_gpu_the_page_says_what_can_be_done():
    assert "No GPU here: kernels run on the CPU target" in texts(opened())


def test_a_stored_result_shows_at_once_with_its_age(store):
    trial = examples.trial()
    store.save_trial(trial)
    store.save_artifact(examples.artifact(trial))
    app = opened()
    assert "measured 3 minutes ago; Run measures again" in texts(app)
    assert [m.label for m in app.metric] == ["Result", "Latency", "Rate", "Against the fastest baseline"]
    assert app.metric[0].value == "right"
    assert app.metric[1].value == "3.20 ms"
    assert app.metric[3].value == "1.59×"
    assert app.metric[3].delta == "as fast as PyTorch eager"
    assert len(app.get("plotly_chart")) == 2
    assert "no C\\+\\+ compiler" in texts(app)


def test_a_result_for_other_knobs_is_stamped_and_never_current(store):
    store.save_trial(examples.trial())
    app = opened()
    app.segmented_control(key="block_M").set_value("128").run()
    assert "for block\\_M=64" in texts(app)
    assert "not for the knobs on the left" in texts(app)
    assert "Run measures again" not in texts(app)


def test_another_spelling_of_the_same_code_is_current(store):
    store.save_trial(examples.trial())
    app = opened(threads="256")
    assert "Same generated code as" in texts(app), "on the CPU threads change nothing"


def test_compile_is_what_the_button_does_for_a_target_without_a_device(store):
    trial = examples.compiled()
    store.save_trial(trial)
    store.save_artifact(examples.artifact(trial))
    app = opened(target="sm_90a")
    assert app.button(key="run").label == "Compile"
    assert "made 3 minutes ago; Compile makes it again" in texts(app)
    assert not app.metric


def test_a_loosely_spelled_target_is_understood_and_the_page_says_so():
    app = opened(target="sm_90")
    assert app.selectbox(key="target").value == "sm_90a"
    assert "is compiled as" in texts(app)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"kernel": "gem"}, "The link's kernel 'gem' does not exist here"),
        ({"M": "abc"}, "M is 'abc'; give a whole number; the default is used"),
        ({"M": "0"}, "M is 0; give a whole number from 1"),
        ({"M": "-5"}, "M is \\-5" if False else "M is -5; give a whole number from 1"),
        ({"M": "1e15"}, "M is 1,000,000,000,000,000; give a whole number from 1"),
        ({"dtype": "int7"}, "dtype is 'int7'; give one of"),
        ({"block_M": "-1"}, "block_M is -1; give a whole number"),
        ({"target": "sm_12"}, "The link's target was left out: no target 'sm_12'"),
        ({"nonsense": "1"}, "The link has 'nonsense': gemm has no field or knob of this name"),
        ({"tl__nonsense": "1"}, "no pass config 'tl.nonsense'"),
        ({"tl__enable_fast_math": "<b>"}, "tl.enable_fast_math is '<b>'"),
    ],
)
def test_a_link_that_cannot_be_meant_gives_a_sentence_and_the_default(words, sentence):
    app = opened(**words)
    said = "\n".join(w.value for w in app.warning)
    assert sentence in said.replace("\\", "")
    assert app.text_input(key="M").value == "512"
    assert app.segmented_control(key="block_M").value == "64"
    assert not app.button(key="run").disabled


def test_a_typed_knob_of_a_link_is_offered_as_a_choice():
    app = opened(block_K="96")
    assert app.segmented_control(key="block_K").value == "96"
    assert not app.warning


def test_a_size_that_cannot_be_meant_switches_run_off_with_one_sentence():
    app = opened()
    app.text_input(key="M").set_value("12x").run()
    assert app.button(key="run").disabled
    assert "M is '12x'; give a whole number" in texts(app).replace("\\", "")
    app.text_input(key="M").set_value("128").run()
    assert not app.button(key="run").disabled


def test_a_knob_may_be_typed():
    app = opened()
    app.segmented_control(key="block_M").set_value("\u2026").run()
    assert app.button(key="run").disabled
    app.text_input(key="_typed:block_M").set_value("many").run()
    assert "block_M is 'many'; give a whole number" in texts(app).replace("\\", "")
    app.text_input(key="_typed:block_M").set_value("96").run()
    assert app.segmented_control(key="block_M").value == "96"
    assert not app.button(key="run").disabled


def test_a_broken_rule_is_said_in_red_and_run_is_off():
    app = opened(target="sm_89", block_M="256", block_N="256", num_stages="4")
    assert app.button(key="run").disabled
    assert ":red[:small[shared memory" in texts(app)
    assert "Compile is off: shared memory" in texts(app)


def test_fit_lowers_the_stages_until_the_config_fits():
    app = opened(target="sm_89", block_K="64", num_stages="4")
    assert app.button(key="run").disabled
    app.button(key="_fit").click().run()
    assert not app.button(key="run").disabled
    assert int(app.segmented_control(key="num_stages").value) < 4


def test_meters_show_what_hopper_launches():
    said = texts(opened(target="sm_90a", threads="256", num_stages="2")).replace("\\", "")
    assert "384 threads (256 + 128 producer, estimated)" in said
    assert "of 232,448 B" in said


def test_another_kernel_brings_its_own_defaults():
    app = opened(M="64", block_M="128")
    app.selectbox(key="kernel").set_value("vector_add").run()
    app.selectbox(key="kernel").set_value("gemm").run()
    assert app.text_input(key="M").value == "512"
    assert app.segmented_control(key="block_M").value == "64"


def test_another_target_moves_defaults_and_keeps_what_was_chosen():
    app = opened(K="640")
    app.selectbox(key="target").set_value("sm_90a").run()
    assert app.text_input(key="M").value == "4096"
    assert app.segmented_control(key="dtype").value == "float16"
    assert app.text_input(key="K").value == "640"


def test_untouched_knobs_follow_the_problem_and_touched_ones_stay(monkeypatch):
    suggest = lambda problem, target: {"block_M": 64 if problem["M"] > 100 else 128}
    has_code = BuiltIn(replace(kernels.code("gemm"), suggest=suggest))
    kernel = AskedKernel(has_code.card, has_code.answer, Kept())
    monkeypatch.setattr(kernels, "kernel", lambda name: kernel)
    app = opened(block_K="64")
    assert app.segmented_control(key="block_M").value == "64"
    app.text_input(key="M").set_value("50").run()
    assert app.segmented_control(key="block_M").value == "128"
    assert app.segmented_control(key="block_K").value == "64"
    app.segmented_control(key="block_M").set_value("256").run()
    app.text_input(key="M").set_value("500").run()
    assert app.segmented_control(key="block_M").value == "256"


def test_names_and_reasons_with_html_are_text(store):
    nasty = "<img src=x onerror=alert(1)> **bold** :red[red]"
    base = examples.trial(
        status="compile_failed", reason=nasty, detail="<script>alert(1)</script>", verdict=None, timing=None, baselines=(), artifact=None
    )
    store.save_trial(base)
    app = opened()
    said = "\n".join(e.value for e in app.error)
    assert "\\<img" in said and "\\*\\*bold" in said and "\\:red\\[" in said
    assert app.code[0].value == "<script>alert(1)</script>"
    assert not any(m.allow_html for m in [*app.markdown, *app.caption])


@pytest.mark.parametrize(
    "status", ["pruned", "unsupported", "compile_failed", "launch_failed", "runtime_failed", "timeout", "crashed", "cancelled"]
)
def test_every_status_has_a_plain_sentence(store, status):
    store.save_trial(
        examples.trial(status=status, reason="the reason", detail="tool text", verdict=None, timing=None, baselines=(), artifact=None)
    )
    app = opened()
    said = "\n".join(e.value for e in [*app.error, *app.warning])
    assert "The reason." in said
    assert status not in said or status in ("cancelled",)
    assert app.code[0].value == "tool text"


@pytest.mark.parametrize(
    ("differing", "words", "colour"),
    [(0, "same bits in 10 launches", "green"), (1234, "1,234 elements differ between 10 launches", "orange")],
)
def test_a_badge_tells_whether_launch_after_launch_gave_the_same_bits(store, differing, words, colour):
    store.save_trial(examples.trial(verdict=examples.right(determinism=Determinism(10, differing))))
    badge = next(m.value for m in opened().markdown if "launches" in m.value)
    assert words in badge and f":{colour}-badge[" in badge


def test_a_wrong_result_keeps_its_numbers(store):
    wrong = examples.right(ok=False, wrong_fraction=0.00024, wrong_count=4096, rel_error=0.3)
    store.save_trial(examples.trial(status="wrong_result", reason="8 of 104 columns never written (96-103)", verdict=wrong))
    app = opened()
    assert app.metric[0].value == "wrong"
    assert "0.024 %" in app.metric[0].delta
    assert "8 of 104 columns never written" in app.error[0].value.replace("\\", "")


def test_an_implausible_time_gives_no_speedup(store):
    strange = examples.timing(1.0, implausible="1 us; the bytes alone need 44 us")
    baselines = (examples.baseline("eager", "PyTorch eager", 50.0, 1.0, comparison=None, speedup=None),)
    store.save_trial(examples.trial(timing=strange, baselines=baselines))
    app = opened()
    assert "implausible" in app.metric[1].delta
    assert app.metric[3].value == "-" and app.metric[3].delta == "no time of ours to compare"


def test_same_and_unclear_are_words_not_ratios(store):
    cases = (("same", 0.98, "tie", "tied with"), ("unclear", 1.001, "unclear", "neither clearly faster nor slower than"))
    for verdict, low, word, of in cases:
        near = examples.baseline("eager", "PyTorch eager", 3201.0, 3200.0, comparison=Comparison(verdict, 1.01, low, 1.02))
        store.save_trial(examples.trial(trial=f"t-{verdict}", baselines=(near,), created=examples.time.time()))
        shown = opened().metric[3]
        assert (shown.value, shown.delta) == (word, f"{of} PyTorch eager")


def test_a_link_to_a_trial_alone_loads_its_knobs(store):
    store.save_trial(examples.trial(config={"block_M": 128}, problem={"M": 256}, trial="abc"))
    app = opened(trial="abc")
    assert app.text_input(key="M").value == "256"
    assert app.segmented_control(key="block_M").value == "128"
    assert app.metric[0].value == "right"


@pytest.mark.parametrize(("word", "what"), [("trial", "result"), ("job", "run")])
def test_a_link_to_a_result_or_run_that_is_not_here_says_so_and_shows_the_page(word, what, store):
    app = opened(**{word: "nothing-here"})
    assert f"The link's {what} 'nothing-here' is not stored on this machine" in app.warning[0].value.replace("\\", "")
    assert not app.button(key="run").disabled and word not in app.query_params


def test_without_a_compiler_run_is_off_and_reading_code_is_not(monkeypatch):
    monkeypatch.setattr(sidebar.toolchain, "why_nothing_runs", lambda: "no C++ compiler: apt-get install g++, or set CXX")
    app = opened()
    assert app.button(key="run").disabled
    assert "Run is off: no C++ compiler: apt-get install g++, or set CXX." in texts(app).replace("\\", "")
    assert not opened(target="sm_90a").button(key="run").disabled


def test_without_a_compiler_a_failed_compile_blames_no_compiler(store):
    reason = "no C++ compiler found, needed to run on the CPU: apt-get install g++, or set CXX"
    store.save_trial(examples.trial(status="compile_failed", reason=reason, verdict=None, timing=None, baselines=(), artifact=None))
    said = opened().error[0].value
    assert "refused" not in said and said.startswith("**It could not be compiled.** No C")


def cancelled_rerun(store) -> str:
    """A job that was cancelled before its trial was timed."""
    opened().button(key="run").click().run()
    job = store.jobs(active=True)[0].id
    gone = {"verdict": None, "timing": None, "baselines": (), "artifact": None, "created": time.time()}
    store.save_trial(examples.trial(trial="stopped", status="cancelled", reason="cancelled before it was timed", **gone))
    store.job_has(job, trial="stopped")
    store.finish(job, "cancelled", "cancelled")
    return job


def test_after_a_cancelled_rerun_the_earlier_result_stands_with_a_hint(store):
    store.save_trial(examples.trial())
    app = opened(job=cancelled_rerun(store))
    assert app.metric[1].value == "3.20 ms"
    assert [i.value for i in app.info] == ["Cancelled: the last run. This is the result before it."]


def test_a_first_run_that_was_cancelled_says_so_once(store):
    app = opened(job=cancelled_rerun(store))
    assert texts(app).count("ancelled") == 1


def test_the_program_stays_while_a_run_has_nothing_else_to_show(store):
    app = opened()
    app.button(key="run").click().run()
    assert "queued" in texts(app) and app.get("bidi_component")


def test_on_the_cpu_no_counts_means_that_there_are_no_gpu_instructions(store):
    trial = examples.trial()
    store.save_trial(trial)
    store.save_artifact(examples.artifact(trial, instructions={}))
    assert "one serial loop nest" in texts(opened())
    assert "compiling took: lower 0.1" in texts(opened()).replace("\\", "")


def test_bytes_a_second_are_gigabytes_below_a_terabyte(store):
    for gbps, words in ((345.0, "345 GB/s"), (4270.0, "4.27 TB/s")):
        point = Roofline("memory", None, "no ceiling is known for this device")
        store.save_trial(examples.trial(trial=words, gbps=gbps, roofline=point, created=time.time() + gbps))
        assert opened().metric[2].value == words


def test_run_submits_a_job_and_the_address_names_it(store):
    app = opened()
    app.button(key="run").click().run()
    assert not app.exception
    jobs = store.jobs(active=True)
    assert len(jobs) == 1
    assert jobs[0].request["kernel"] == "gemm"
    assert app.query_params["job"] == jobs[0].id
    assert "queued" in texts(app)
    app.button(key="_cancel").click().run()
    assert store.job(jobs[0].id).state == "cancelled"


def test_a_reload_finds_the_running_job_again(store):
    app = opened()
    app.button(key="run").click().run()
    job = store.jobs(active=True)[0].id
    again = opened(job=job)
    assert "queued" in texts(again)
    assert again.button(key="run").label == "Running"


def test_another_sessions_job_is_seen_in_the_queue(store):
    opened().button(key="run").click().run()
    second = opened(block_M="128")
    second.button(key="run").click().run()
    assert "1 job before it; another session is measuring" in texts(second)


def test_a_failed_job_says_why(store):
    app = opened()
    app.button(key="run").click().run()
    job = store.jobs(active=True)[0].id
    store.finish(job, "failed", "the disk that holds <home> is full")
    assert "The run did not finish: the disk that holds" in texts(opened(job=job))


@pytest.mark.parametrize(
    ("tab", "words"),
    [
        ("Command", ("python -m tileviz run gemm -p M=512", "block_M=128")),
        ("Python", ("import tilelang.language as T", "'block_M': 128")),
        ("Link", ("kernel=gemm", "block_M=128", "target=cpu")),
    ],
)
def test_the_command_the_script_and_the_link_can_be_copied(tab, words):
    app = opened(block_M="128")
    app.session_state["_repeat"] = tab
    app.run()
    assert all(word in app.code[0].value for word in words)


def test_the_last_runs_are_listed(store):
    for i in range(12):
        store.save_trial(examples.trial(trial=f"t{i}", created=1000.0 + i))
    rows = opened().dataframe[-1].value
    assert list(rows["trial"]) == [f"t{i}" for i in range(11, 1, -1)]


def test_the_last_runs_name_what_differs_and_say_the_rest_once(store):
    for number, block in enumerate((64, 128)):
        store.save_trial(examples.trial(config={"block_M": block}, trial=f"t{number}", created=1000.0 + number))
    app = opened()
    assert list(app.dataframe[-1].value["knobs that differ"]) == ["block_M=128", "block_M=64"]
    assert set(app.dataframe[-1].value["sizes that differ"]) == {"-"}
    said = next(line for line in texts(app).replace("\\", "").split("\n") if line.startswith("The same in every row: "))
    assert "block_M" not in said and "block_N=" in said


def test_a_damaged_value_in_the_store_does_not_break_the_page(store):
    trial = examples.trial()
    store.save_trial(replace(trial, config={**trial.config, "gone_knob": 3}))
    assert not opened().exception


def test_on_a_gpu_machine_the_first_device_is_the_gpu(with_h200):
    app = opened()
    assert app.selectbox(key="target").value == "cuda:0"
    assert app.text_input(key="M").value == "4096"
    assert "No GPU here" not in texts(app)
    assert "sm_90a" not in app.selectbox(key="target").options


@pytest.mark.parametrize("name", [p.name for p in kernels.kernel("flash_attention").presets])
def test_no_preset_leaves_a_broken_rule_and_the_next_dtype_neither(with_h200, name):
    preset = next(p for p in kernels.kernel("flash_attention").presets if p.name == name)
    words = state.words_of(preset.problem)
    app = opened(kernel="flash_attention", target="cuda:0", **words)
    for dtype in ("float32", "bfloat16"):
        app.segmented_control(key="dtype").set_value(dtype).run()
        for size in ("256", "64", "128"):
            app.segmented_control(key="D").set_value(size).run()
            assert not [m.value for m in app.markdown if m.value.startswith(":red[")], (dtype, size)


def test_a_loaded_trial_keeps_its_knobs_where_they_are_another_problems_defaults(store, with_h200):
    mine = examples.trial("flash_attention", problem={"D": 256}, config={"block_M": 64}, device=examples.H200, trial="mine")
    store.save_trial(mine)
    app = opened(trial="mine")
    assert app.segmented_control(key="block_M").value == "64" and app.segmented_control(key="D").value == "256" and app.metric


def test_the_engine_is_started_ahead_once_the_page_is_drawn(monkeypatch):
    started = []
    monkeypatch.setattr(page.client, "ensure_engine", started.append)
    monkeypatch.setattr(page, "WARM_UP_AFTER_S", 0.01)
    app = opened()
    app.run()
    end = time.monotonic() + 5
    while not started and time.monotonic() < end:
        time.sleep(0.01)
    assert len(started) == 1


@pytest.mark.parametrize(
    "words",
    [{"cuda__kernels_output_dir": "/etc"}, {"tl__device_compile_flags": "-DX=1 -Xptxas -O1,-v"}, {"tl__dump_ir_path": "/tmp/my dumps"}],
)
def test_a_link_cannot_set_pass_configs_that_name_files_or_flags(store, words):
    app = opened(kernel="vector_add", **words)
    assert "can be given on the command line only" in texts(app)
    assert app.button(key="run").disabled


@pytest.mark.parametrize("page", ["", "codeview", "sweep"])
def test_a_parameter_given_twice_or_as_a_list_is_said_and_the_default_stands(store, page):
    app = opened(page, block_M=["32", "64"], block_N="64,128", M="256")
    said = texts(app).replace("\\", "")
    assert "The link gives block_M more than once, '32' and '64'; the default is used." in said
    assert "From the link, block_N is '64,128'; give one whole number, without commas; the default is used." in said
    if page != "sweep":
        assert (app.session_state["block_M"], app.session_state["block_N"], app.session_state["M"]) == ("64", "64", "256")


@pytest.mark.parametrize("page", ["", "codeview"])
def test_a_trial_from_before_a_knob_sets_it_as_it_was_then(store, page):
    """On Hopper the defaults of this problem carry O out through shared memory; the trial knew only the way from registers."""
    config = {"block_M": 128, "block_N": 64, "num_stages": 2, "threads": 256, "schedule": "overlap", "store": "direct"}
    made = examples.trial("flash_attention", config=config, device=examples.H200)
    store.save_trial(replace(made, config={name: value for name, value in made.config.items() if name != "store"}, key="older"))
    app = opened(page, trial=made.trial)
    assert app.session_state["schedule"] == "overlap" and app.session_state["store"] == "direct"
