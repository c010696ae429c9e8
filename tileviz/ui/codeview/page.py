"""The Code page from top to bottom: which config, its checks, two panes, and the tabs under them."""

from dataclasses import replace

import streamlit as st

from tileviz.engine import requests
from tileviz.engine.jobs.compiled import with_code
from tileviz.engine.options import Where
from tileviz.engine.presets import recorded_words
from tileviz.engine.requests import Request
from tileviz.errors import BadRequest
from tileviz.formats import assignments
from tileviz.kernels.asked import AskedKernel
from tileviz.records import Artifact, JobView, Trial
from tileviz.texts import compiled
from tileviz.ui import links, session
from tileviz.ui.codeview import compare, evidence, lowering, panes, recent, rungs, texts
from tileviz.ui.form import held, recorded, sidebar
from tileviz.ui.form.forms import Chosen
from tileviz.ui.parts import code, headline, heard, places, resources, runs, script, shown
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain

COUNTS, DIFF, LADDER, LOWERING, LAYOUTS = "Counts and resources", "Diff", "Ladder", "Lowering", "Layouts"
TABS = (COUNTS, DIFF, LADDER, LOWERING, LAYOUTS)

TICK_S = 0.25
"""How often a compile is looked at: it takes a second or two in all."""

SUGGESTED = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
"""Architectures offered to a reader who stands on the CPU target."""


def read_address() -> None:
    """What the link asks for; a link to a trial alone loads that trial's knobs, and not its result."""
    links.follow_trial(lambda trial: links.of_trial(trial, trial.target), keep=session.CODE_WORDS)
    links.read_link()
    if held.carry("codeview"):
        session.unlink(session.TRIAL)  # the knobs say it all; the page shows no result


def form() -> tuple[Chosen, Request | None, str]:
    """The sidebar, the same as on Explore; (what is chosen, what compiles it, why it cannot be compiled or "")."""
    chosen, _, _ = sidebar.form()
    request, why_not = _request(chosen)
    return chosen, request, why_not


def _request(chosen: Chosen) -> tuple[Request | None, str]:
    if not chosen.complete:
        return None, next(iter(chosen.mistakes.values()), "The form is not complete")
    try:
        request = requests.resolve(
            chosen.kernel.name,
            chosen.problem,
            chosen.config,
            kind="compile",
            where=Where(chosen.place.target.name, None, places.devices()),
        )
    except BadRequest as error:
        return None, error.message
    return request, request.unsupported or "; ".join(request.broken)


def job_of(request: Request | None, why_not: str) -> JobView | None:
    """The job that makes this very code: the one just started, or one of Explore; None while another is at work."""
    job = sidebar.job_of(request, why_not)
    asked = runs.request_of(job) if job is not None else None
    return job if asked is not None and request is not None and asked.key == request.key else None


def header(chosen: Chosen, request: Request | None, why_not: str, job: JobView | None) -> str:
    """What is read, the choosers of A and B, and the one button. Gives the word of B."""
    for note in links.notes():
        st.warning(plain(note))
    heard.draw(job)
    running = job is not None and job.active
    left, loaded, other, button = st.columns([5, 4, 4, 2], vertical_alignment="bottom", gap="small")
    with left:
        st.title(plain(f"{chosen.kernel.title} for {chosen.place.target.name}"), anchor=False)
    with loaded:
        _recent(chosen.kernel)
    word = ""
    if request is not None:
        with other:
            word = compare.choose(request)
    with button:
        st.button(
            "Compiling" if running else "Compile", key=session.RUN, type="primary", width="stretch", disabled=bool(why_not) or running,
            help=plain(why_not) or None,
        )  # fmt: skip
    if why_not:
        st.error(f"Compile is off: {plain(why_not)}.")
    return word


def _recent(kernel: AskedKernel) -> None:
    """The chooser of A among what is stored."""
    known = {t.trial: t for t in recent.compiled(kernel.name)}
    st.selectbox(
        "Load a compiled config (A)", ["", *known], key=session.RECENT, on_change=_load, disabled=not known,
        format_func=lambda word: _trial_label(known[word]) if word in known else "the knobs on the left",
    )  # fmt: skip


def _trial_label(trial: Trial) -> str:
    return f"{trial.target}, {recent.when(trial)}: {assignments({**trial.problem, **trial.config} if trial.recorded else trial.config)}"


@guarded
def _load() -> None:
    trial = store().trial(st.session_state.get(session.RECENT) or "")
    st.session_state[session.RECENT] = ""
    if trial is not None:
        held.load_trial(trial)
        held.put_place(places.place(trial.target)[0])
        shown.forget()
        st.session_state.pop(session.LAST_JOB, None)


def body(chosen: Chosen, request: Request | None, job: JobView | None, word: str) -> None:
    """The running job, the code, and the tabs; or what Compile would do."""
    running = job is not None and job.active
    if running:
        runs.progress(job, TICK_S, panes.show_it_first)
    artifact = store().artifact(request.key) if request is not None else None
    there = recorded.same(request) if artifact is None and not running else None
    artifact = artifact or (store().artifact(there.artifact) if there is not None and there.artifact else None)
    if request is None or artifact is None:
        _nothing_yet(chosen, request, running)
        return
    if there is not None:
        _recorded_stamp(there, artifact)
    _target_hint(artifact, request)
    if not running:
        artifact = _failed(request, artifact)
    evidence.draw_checks(artifact, request, chosen.kernel)
    panes.draw(artifact, chosen.kernel, growing=running and artifact.ptx is None and artifact.source_language != "c")
    _downloads(artifact, chosen.kernel)
    _tabs(artifact, request, chosen.kernel, word)


def _nothing_yet(chosen: Chosen, request: Request | None, running: bool) -> None:
    """The tile program, and why there is no code: not compiled yet, or it failed."""
    latest = store().latest(request.key) if request is not None and not running else None
    if latest is not None and latest.status not in ("ok", "cancelled"):
        headline.status(latest)
    elif not running:
        where = plain(chosen.place.target.name)
        st.markdown(f"**Compile** shows what TileLang makes of the tile program below for {where}; it needs no GPU.")
    if not running and _recorded(chosen, request):
        return
    name = chosen.kernel.name
    code.pane(script.program_source(chosen.kernel), "python", key="program", title=f"{name}: the tile program", file=f"{name}.py")
    if request is not None and not running:
        _tabs_without_code(request)


def _recorded(chosen: Chosen, request: Request | None) -> bool:
    """Recorded code of this kernel, for a reader who has compiled none; False where there is none, or there is code of this machine."""
    tuned = recorded.nearest(chosen.kernel, request, chosen)
    trial = store().trial(tuned.trial) if tuned is not None else None
    artifact = store().artifact(trial.artifact) if trial is not None and trial.artifact else None
    if tuned is None or trial is None or artifact is None:
        return False
    if any(not known.recorded for known in recent.compiled(chosen.kernel.name)):
        return False
    there = Request("compile", trial.kernel, trial.problem, trial.config, trial.target)  # as it was, whatever the kernel takes by now
    with st.container(border=True, key="recorded", gap="small"):
        _recorded_stamp(trial, artifact, "Nothing of this kernel was compiled on this machine yet.")
        st.caption(plain(f"{assignments(trial.problem)}, with {assignments(trial.config)}."))
        recorded.buttons(trial, tuned.sweep)
        evidence.draw_checks(artifact, there, chosen.kernel)
        panes.draw(artifact, chosen.kernel)
    return True


def _recorded_stamp(trial: Trial, artifact: Artifact, more: str = "Compile makes it here.") -> None:
    """Whose code this is: another machine's compilers made it."""
    versions = ", ".join(filter(None, [artifact.compiler, f"TileLang {trial.fingerprint.get('tilelang', '')}".strip()]))
    words = recorded_words(trial.device, trial.created)
    said = f"{words[:1].upper()}{words[1:]}: code for {trial.target}, made there by {versions}. {more}"
    st.info(plain(said), icon=":material/bookmark:")


def _tabs_without_code(request: Request) -> None:
    st.header("This config on every architecture", anchor=False)
    rungs.draw(request)


def _target_hint(artifact: Artifact, request: Request) -> None:
    """On the CPU target: where the GPU code is."""
    if artifact.source_language != "c":
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("This is the C of the CPU target. For CUDA, PTX and SASS choose an architecture; no GPU is needed:")
        for name in SUGGESTED:
            st.button(name, key=f"_go_{name}", type="tertiary", on_click=_go, args=(name,))


@guarded
def _go(name: str) -> None:
    held.put_place(places.place(name)[0])
    held.target_changed()


def _failed(request: Request, artifact: Artifact) -> Artifact:
    """Code that a tool refused after the source was there, or that no launch can run: draws the failure, and gives the artifact with it
    as why texts are missing."""
    latest = store().latest(request.key)
    if latest is not None and artifact.ptx is None and latest.status not in ("ok", "cancelled", "pruned"):
        headline.status(latest)
        why = {text: latest.reason for text in compiled()}
        return replace(artifact, missing={**why, **artifact.missing})
    blank = Trial("", request.kernel, request.problem, request.config, request.target, None, "ok")
    headline.status(with_code(blank, artifact, artifact.seconds))
    return artifact


def _downloads(artifact: Artifact, kernel: AskedKernel) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Download:")
        for title in texts.titles(artifact):
            text = texts.whole(artifact, kernel, title)
            if text is not None:
                st.download_button(
                    title,
                    lambda text=text: text,
                    texts.file_name(artifact, kernel, title),
                    on_click="ignore",
                    type="tertiary",
                    key=f"_save_{title}",
                )
        st.download_button(
            "all as a zip", data=lambda: texts.archive(artifact, kernel), file_name=f"{kernel.name}_{artifact.target}.zip",
            mime="application/zip", on_click="ignore", type="tertiary", key="_save_zip",
        )  # fmt: skip
        st.space("stretch")
        st.caption(plain(resources.made_by(artifact)))


def _tabs(artifact: Artifact, request: Request, kernel: AskedKernel, word: str) -> None:
    """Only the open tab is drawn."""
    against = compare.other(word, request)
    tabs = st.tabs(list(TABS), key=session.TAB, bind="query-params", on_change="rerun", default=COUNTS)
    drawers = {
        COUNTS: lambda: _counts(artifact, request, kernel),
        DIFF: lambda: compare.draw(artifact, kernel, request, against),
        LADDER: lambda: rungs.draw(request),
        LOWERING: lambda: lowering.draw_passes(request),
        LAYOUTS: lambda: lowering.draw_layouts(request),
    }
    for tab, draw in zip(tabs, drawers.values(), strict=True):
        if tab.open:
            with tab:
                draw()


def _counts(artifact: Artifact, request: Request, kernel: AskedKernel) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        evidence.draw_classes(artifact)
        st.header("Resources", anchor=False)
        frame = resources.resources_frame(artifact)
        st.dataframe(
            frame, hide_index=True, width="stretch", key="code_resources", alt="Resources of the kernel", column_config=resources.RIGHT
        )  # fmt: skip
    with right:
        evidence.draw_shapes(artifact, request, kernel)
    evidence.draw_taxonomy()
