"""The Code page without a browser: empty, with linked code, with tools missing, compared, and from a link."""

import json
from dataclasses import asdict, replace

import pytest

from tests.app.pages import opened, texts
from tests.ui import code_examples, examples
from tileviz.engine import ladder
from tileviz.records import Resources, SharedBytes
from tileviz.ui.parts import codepane
from tileviz.ui.parts.trouble import plain


def panes(app) -> dict[str, dict]:
    """{title: what the browser is told} of every code pane."""
    told = [json.loads(element.proto.json or "{}") if element.proto.json else {} for element in app.get("bidi_component")]
    return {each.get("title", ""): each for each in told}


def bars(app) -> list:
    """The progress bars that say something; those of the form's meters say nothing themselves."""
    return [element.proto for element in app.get("progress") if element.proto.text]


@pytest.fixture
def stored(store):
    """A compiled GEMM for sm_90a in the store, with the request it is for."""
    request = code_examples.request()
    artifact = code_examples.artifact()
    store.save_artifact(artifact)
    trial = replace(examples.compiled(), trial="t-a", config=request.config, problem=request.problem, key=request.key, artifact=request.key)
    store.save_trial(trial)
    return request


def test_an_empty_store_shows_the_program_what_compile_does_and_the_ladder():
    app = opened("codeview")
    assert "shows what TileLang makes of the tile program below" in texts(app)
    assert app.button(key="run").label == "Compile" and not app.button(key="run").disabled
    assert "gemm: the tile program" in panes(app)
    assert app.button(key="climb").label == "Compile for every architecture"


@pytest.mark.parametrize("kernel", examples.every_kernel())
def test_every_kernel_can_be_compiled_for_hopper_from_here(kernel):
    app = opened("codeview", kernel=kernel, target="sm_90a")
    assert not app.button(key="run").disabled and not app.exception


def test_stored_code_shows_at_once_with_checks_and_two_linked_panes(stored):
    app = opened("codeview", **code_examples.words(stored))
    found = panes(app)
    assert set(found) == {"Python", "CUDA"}
    assert found["Python"]["links"] and found["CUDA"]["links"] and found["CUDA"]["group"] == found["Python"]["group"] == "code"
    assert "**Tensor cores** detected: HGMMA.64x64x16.F32" in texts(app).replace("\\", "")
    assert "not detected" in texts(app)


def test_the_address_chooses_texts_and_a_line(stored):
    app = opened("codeview", **code_examples.words(stored), left="CUDA", right="SASS", at="SASS:120")
    found = panes(app)
    assert set(found) == {"CUDA", "SASS"} and found["SASS"]["line"] == 120 and found["CUDA"]["line"] is None


@pytest.mark.parametrize("at", ["SASS:x", "SASS:-3", "nothing", "SASS:99999999999999", "<b>:1"])
def test_a_line_that_cannot_be_meant_is_left_out(stored, at):
    assert panes(opened("codeview", **code_examples.words(stored), right="SASS", at=at))["SASS"]["line"] is None


def test_of_clicks_that_come_as_one_change_the_last_is_in_the_address(stored):
    app = opened("codeview", **code_examples.words(stored), right="SASS")
    first, last = ({"title": title, "line": line, "at_ms": ms} for title, line, ms in (("SASS", 97, 1000.0), ("Python", 12, 1001.5)))
    app.session_state["pane_left"], app.session_state["pane_right"] = {"click": last}, {"click": first}
    app.run()
    assert app.query_params["at"] in ("Python:12", ["Python:12"])
    app.query_params["at"] = "SASS:120"
    app.run()
    assert panes(app)["SASS"]["line"] == 120, "a click that was told before changes nothing"


@pytest.mark.parametrize("told", [None, 77, {}, {"title": "SASS", "line": "x", "at_ms": 1}, {"title": "SASS", "line": 1, "at_ms": None}])
def test_what_is_no_click_is_none(told):
    assert codepane.click_of(told) is None


def test_a_missing_tool_is_named_in_its_pane_and_the_others_are_there(store, stored):
    store.clear_cache()
    store.save_artifact(code_examples.artifact(sass=None, missing={"sass": "nvdisasm not found: pip install nvidia-cuda-nvdisasm"}))
    app = opened("codeview", **code_examples.words(stored), right="SASS")
    assert "pip install nvidia-cuda-nvdisasm" in texts(app).replace("\\", "")
    assert set(panes(app)) == {"Python"}


def test_hostile_text_reaches_the_browser_as_text_only(store, stored):
    hostile = '<img src=x onerror="alert(1)"></script><script>alert(2)</script>'
    made = code_examples.artifact()
    store.save_artifact(replace(made, source=f"// {hostile}\n{made.source}", program=f"# {hostile}\n{made.program}", ir=hostile))
    app = opened("codeview", **code_examples.words(stored), left="IR")
    assert panes(app)["IR"]["text"] == hostile
    assert "<img" not in texts(app) and not app.get("html_with_scripts")


def test_two_configs_are_compared_with_changed_counts_first(store, stored):
    other = code_examples.request("gemm_sm_100a")
    store.save_artifact(replace(code_examples.artifact(), key=other.key, target="sm_100a", sass=_sass("gemm_sm_100a")))
    app = opened("codeview", **code_examples.words(stored), b="sm_100a", tab="Diff")
    words = texts(app).replace("\\", "")
    assert "-32 HGMMA.64x64x16.F32" in words and "+64 HMMA.16816.F32" in words
    found = panes(app)
    a, b = found["A: SASS for sm_90a"], found["B: SASS for sm_100a"]
    assert a["text"].count("\n") == b["text"].count("\n") and a["together"] and len(a["numbers"]) == len(b["numbers"])


def test_what_is_not_compiled_yet_offers_to_compile_it(stored):
    app = opened("codeview", **code_examples.words(stored), b="sm_80", tab="Diff")
    assert "Compile B" in app.button(key="compile_b").label


def test_the_ladder_has_a_row_for_each_architecture(stored):
    app = opened("codeview", **code_examples.words(stored), tab="Ladder")
    frame = next(table.value for table in app.dataframe if "architecture" in table.value and "tensor core" in table.value)
    assert list(frame["architecture"]) == ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"]
    assert dict(zip(frame["architecture"], frame["tensor core"], strict=True))["sm_90a"] == "32 HGMMA.64x64x16.F32"
    assert app.button(key="climb").label == "Compile the 6 that are missing"


def test_the_ladder_has_a_bar_that_grows_with_what_is_compiled_and_says_what_it_waits_for(store, stored):
    jobs = ladder.climb(store, ladder.rungs(store, stored.kernel, stored.problem, stored.config))
    app = opened("codeview", **code_examples.words(stored), tab="Ladder")
    (bar,) = bars(app)
    assert (len(jobs), bar.value) == (6, 0) and bar.text.startswith("0 of 6 compiled; waiting for sm") and "sm\\_75\\: queued" in bar.text
    assert "climb" not in [button.key for button in app.button]
    for job in jobs[:3]:
        store.claim(job)
        store.finish(job, "done")
    app.run()
    (bar,) = bars(app)
    assert bar.value == 50 and bar.text.startswith("3 of 6 compiled; waiting for ") and "sm\\_75" not in bar.text
    for job in jobs[3:]:
        store.finish(job, "done")
    app.run()
    assert not bars(app) and app.button(key="climb")


@pytest.mark.parametrize("tab", ["Lowering", "Layouts"])
def test_an_unread_lowering_offers_to_read_it(stored, tab):
    assert opened("codeview", **code_examples.words(stored), tab=tab).button(key="read_lowering").label == "Read the lowering"


def test_a_read_lowering_shows_passes_and_layouts(store, stored):
    passes = [
        {"name": "BindTarget", "phase": "p", "depth": 0, "added": 0, "removed": 0, "diff": ""},
        {"name": "LowerTileOp", "phase": "p", "depth": 0, "added": 2, "removed": 1, "diff": "@@ -1 +1,2 @@\n-a\n+b\n+c"},
    ]
    layout = {
        "buffer": "A_shared",
        "kind": "shared",
        "shape": [8, 8],
        "dtype": "float16",
        "registers": [],
        "replicated": 1,
        "expression": "index = _i",
    }
    layout["cells"] = [[row * 8 + column for column in range(8)] for row in range(8)]
    store.files.write_more(
        stored.key, {"passes.json": json.dumps(passes), "layouts.json": json.dumps([layout]), "lowering.html": "<html></html>"}
    )
    app = opened("codeview", **code_examples.words(stored), tab="Lowering")
    assert "2. LowerTileOp: +2 -1" in panes(app) and "2 passes, 1 changed the program" in texts(app)
    app = opened("codeview", **code_examples.words(stored), tab="Layouts")
    assert "no bank conflicts" in texts(app) and len(app.get("plotly_chart")) == 1


def test_the_cpu_target_shows_its_c_and_the_way_to_gpu_code(store):
    trial = examples.trial()
    store.save_artifact(replace(examples.artifact(trial), lines={"source": (0, 0)}, program="def program():\n    pass\n"))
    app = opened("codeview")
    assert "This is the C of the CPU target" in texts(app) and app.button(key="_go_sm_90a")
    app.button(key="_go_sm_90a").click().run()
    assert app.selectbox(key="target").value == "sm_90a"


def test_a_link_to_a_trial_alone_opens_its_code(stored):
    app = opened("codeview", trial="t-a")
    assert app.selectbox(key="target").value == "sm_90a" and set(panes(app)) == {"Python", "CUDA"}


def test_a_failed_compile_says_what_the_tool_said(store):
    request = code_examples.request(threads=96)
    failed = replace(examples.compiled(), config=request.config, problem=request.problem, key=request.key, artifact=None)
    store.save_trial(replace(failed, status="compile_failed", reason="no warps fit", detail="the tool's own words"))
    app = opened("codeview", **code_examples.words(request))
    assert "No warps fit" in texts(app) and "the tool's own words" in texts(app)


def test_texts_that_a_refused_compile_left_out_say_what_the_compiler_said(store):
    request = code_examples.request()
    store.save_artifact(replace(code_examples.artifact(of=request), ptx=None, sass=None, cubin=None), complete=False)
    failed = replace(examples.compiled(), config=request.config, problem=request.problem, key=request.key, artifact=None)
    store.save_trial(replace(failed, status="compile_failed", reason="nvcc refused: Unknown option '--nonsense'"))
    app = opened("codeview", **code_examples.words(request), right="SASS")
    assert [info.value for info in app.info] == [plain("nvcc refused: Unknown option '--nonsense'")]


def test_code_that_does_not_fit_on_an_sm_says_so_above_its_text(store, stored):
    large = Resources(168, 0, SharedBytes(1024, 240_000), 256, (2, 2, 1), 0, 0.0, "shared memory")
    store.save_artifact(code_examples.artifact(resources=large))
    app = opened("codeview", **code_examples.words(stored))
    assert "It cannot be launched" in texts(app) and "241,024 B of shared memory" in texts(app) and set(panes(app)) == {"Python", "CUDA"}


def test_an_index_that_wrapped_is_a_check_of_the_cpu_target_too(store):
    made = examples.artifact(examples.trial())
    tensors = ({"name": "A", "shape": [2**20, 2**20], "dtype": "float32"},)
    store.save_artifact(replace(made, source="void f() {\n  C[0] = A[-362807291];\n}\n", tensors=tensors))
    assert "Indices past 32 bits" in texts(opened("codeview")) and "line 2" in texts(opened("codeview"))


def test_the_form_goes_along_from_explore(stored):
    app = opened("", **code_examples.words(stored))
    app.switch_page("pages/codeview.py").run()
    assert app.selectbox(key="target").value == "sm_90a" and set(panes(app)) == {"Python", "CUDA"}


def _sass(case: str) -> str:
    return (code_examples.CASES / case / "kernel.sass").read_text()


def test_a_run_of_another_config_does_not_hold_this_page(store, stored):
    other = code_examples.request(num_stages=3)
    job = store.submit("compile", asdict(other))
    app = opened("codeview", **code_examples.words(stored), job=job)
    assert app.button(key="run").label == "Compile" and not app.button(key="run").disabled
    app = opened("codeview", **code_examples.words(other), job=job)
    assert app.button(key="run").label == "Compiling" and app.button(key="run").disabled
