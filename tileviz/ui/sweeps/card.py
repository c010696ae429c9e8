"""One config of a sweep: time, how it differs from the best, and the way to Explore and Code; and beside it error, resources and counts."""

import html

import pandas as pd
import streamlit as st

from tileviz import formats, kernels, lens
from tileviz.bench.roofline import why_over
from tileviz.formats import assignments, compared_value, duration_us, percent, significant
from tileviz.records import Trial
from tileviz.ui.parts import headline
from tileviz.ui.parts.cells import kept_as_text
from tileviz.ui.parts.resources import TEXT_NAMES
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import plain
from tileviz.ui.sweeps import address
from tileviz.ui.sweeps.table import MEASURED, NOT_RUN, PRUNED, UNTOLD, SweepTable, differing, rated

ROW_PX = 28


def draw(table: SweepTable, problem: int) -> None:
    """The config that was clicked, or else the best."""
    index, best = opened(table, problem), table.best(problem)
    if index is None:
        st.header("No config opened", anchor=False)
        why = table.why_no_best(problem)
        st.caption(plain(f"{why[:1].upper()}{why[1:]}. Click a cell to see what became of it."))
        return
    with st.container(border=True, key="sweep_card", gap="small"):
        _draw(table, problem, index, best)


def opened(table: SweepTable, problem: int) -> int | None:
    """Index of the config that the address names, where it is one of this problem; else of the best."""
    asked = address.config()
    index = table.index_of(asked) if asked is not None else None
    own = index is not None and table.rows.at[index, "problem_index"] == problem
    return index if own else table.best(problem)


def _draw(table: SweepTable, problem: int, index: int, best: int | None) -> None:
    row = table.rows.loc[index]
    st.header(plain(title(table, problem, index, best)), anchor=False)
    trial = store().trial(row["trial"]) if isinstance(row["trial"], str) else None
    if row["kind"] == MEASURED:
        _times(table, index, best)
    else:
        _why_not(row, trial)
    _frame(knob_frame(table, index, best), "card_knobs", "Knobs of this config and of the best")
    for line in (*notes(table, index), *determinism(trial)):
        st.caption(plain(line))
    over = why_over(trial.roofline) if trial is not None and trial.roofline is not None else ""
    if over:
        st.caption(plain(over))
    compared = baseline_words(trial)
    if compared:
        st.caption(plain(compared))
    _links(table, problem, index, trial)


def _frame(frame: pd.DataFrame, key: str, alt: str) -> None:
    widths = {"knob": 104, "what": 112, "value": 84, "this": 70, "the best": 70}
    columns = {
        name: st.column_config.TextColumn(name, alignment="left" if name in ("knob", "what") else "right", width=widths[name])
        for name in frame
    }
    st.dataframe(
        kept_as_text(frame),
        hide_index=True,
        width="stretch",
        key=key,
        alt=alt,
        column_config=columns,
        row_height=ROW_PX,
        height=ROW_PX * (len(frame) + 1) + 12,
    )


def title(table: SweepTable, problem: int, index: int, best: int | None) -> str:
    """`Config 12, the best`, `Config 12, tied with the best`, `Config 12`."""
    row, tied = table.rows.loc[index], table.tied(problem)
    words = f"Config {row['ordinal']:,}"
    if index == best:
        return f"{words}, the best" + (f" (tied with {len(tied) - 1})" if len(tied) > 1 else "")
    return f"{words}, tied with the best" if row["trial"] in tied else words


def _times(table: SweepTable, index: int, best: int | None) -> None:
    row = table.rows.loc[index]
    first, second = st.columns(2, gap="small")
    first.metric("Latency", duration_us(row["median_us"]), standing(table, index, best), delta_color="gray", delta_arrow="off")
    share = f"{percent(row['roofline'])} of the ceiling" if _has(row["roofline"]) else "no ceiling known"
    second.metric("Rate", rated(row.get("tflops"), row.get("gbps")), share, delta_color="gray", delta_arrow="off")
    if _has(row.get("p10_us")):
        st.caption(f"p10 {duration_us(row['p10_us'])}, p90 {duration_us(row['p90_us'])}, {_int(row['n'])} samples")


def standing(table: SweepTable, index: int, best: int | None) -> str:
    """Where a timed config stands: `the best`, `tied with the best`, `1.20\u00d7 the best's time`, `launch-bound: not ranked`."""
    row = table.rows.loc[index]
    if row["launch_bound"]:
        return "launch-bound: not ranked"
    if best is None or index == best:
        return "the best" if index == best else "none is the best"
    if row["trial"] in table.tied(row["problem_index"]):
        return "tied with the best"
    return f"{significant(row['median_us'] / table.rows.at[best, 'median_us'])}\u00d7 the best's time"


def _why_not(row: pd.Series, trial: Trial | None) -> None:
    """Why this config has no time."""
    if row["status"] == "not_run":
        st.info("Not tried: the search ended, or has not come to it yet.")
        return
    if row["kind"] == UNTOLD:
        st.info("It ran right. The file that it came from tells no time or rate of it.")
        return
    if trial is not None and trial.status not in ("ok", "pruned"):
        headline.status(trial)
        return
    sentence = headline.SENTENCES.get(row["status"], "Its time cannot be right.")
    box = st.warning if row["kind"] in (PRUNED, NOT_RUN) else st.error
    box(f"**{plain(sentence)}** {plain(row['reason'] or '')}")


def knob_frame(table: SweepTable, index: int, best: int | None) -> pd.DataFrame:
    """Every knob with its value; beside it the best config's, those that differ first."""
    own = table.configs[index]
    theirs = table.configs[best] if best is not None else own
    changed = differing(own, theirs)
    if not changed:
        return pd.DataFrame({"knob": list(table.knobs), "value": [table.knobs.at[index, name] for name in table.knobs]})
    names = [*changed, *(name for name in table.knobs if name not in changed)]
    rows = [(name, table.knobs.at[index, name], changed[name][1] if name in changed else "same") for name in names]
    return pd.DataFrame(rows, columns=["knob", "this", "the best"])


def fact_frame(table: SweepTable, index: int, best: int | None) -> pd.DataFrame:
    """Error, resources and counts, with the best config's beside them."""
    ours = facts(table, index)
    if best is None or best == index or not ours:
        return pd.DataFrame(ours.items(), columns=["what", "value"])
    theirs = facts(table, best)
    return pd.DataFrame([(name, value, theirs.get(name, "-")) for name, value in ours.items()], columns=["what", "this", "the best"])


def draw_facts(table: SweepTable, problem: int) -> None:
    """Error, resources and counts of the opened config, side by side in as many columns as there is room for."""
    index = opened(table, problem)
    frame = fact_frame(table, index, table.best(problem)) if index is not None else pd.DataFrame()
    if not frame.empty:
        st.html(FACTS_STYLE + facts_html(frame, f"Config {table.rows.at[index, 'ordinal']:,}: resources and counts"))


FACTS_STYLE = """<style>
.tile-facts, .tile-facts dd { margin: 0 !important; padding: 0 !important; }
.tile-facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 6px 16px; font-size: 0.9rem; }
.tile-facts-name { font-weight: 600; margin: 0 0 6px; }
.tile-facts dt, .tile-facts small { font-size: 0.85rem; color: color-mix(in srgb, currentColor 80%, transparent); }
.tile-facts dd { font-variant-numeric: tabular-nums; }
</style>"""


def facts_html(frame: pd.DataFrame, name: str) -> str:
    """A list of terms; where the best config's value is another one, it stands beside."""
    items = []
    for row in frame.to_dict("records"):
        own = row.get("value", row.get("this", ""))
        beside = f" <small>best {html.escape(row['the best'])}</small>" if row.get("the best", own) != own else ""
        items.append(f"<div><dt>{html.escape(row['what'])}</dt><dd>{html.escape(own)}{beside}</dd></div>")
    return f'<p class="tile-facts-name">{html.escape(name)}</p><dl class="tile-facts">{"".join(items)}</dl>'


def facts(table: SweepTable, index: int) -> dict[str, str]:
    """What is known of a config, as a person reads it; what its target does not have is left out."""
    row, counts = table.rows.loc[index], table.counted[index] or {}
    found = {
        "relative error": significant(row["rel_error"], 2) if _has(row.get("rel_error")) else "",
        "registers": _int(row.get("registers")),
        "spills and stack": _int(row.get("spill_bytes"), " B"),
        "shared memory": _int(row["shared_bytes"], " B") if row["shared_bytes"] or _has(row.get("registers")) else "",
        "threads launched": _int(row.get("threads_launched")),
        "occupancy": percent(row["occupancy"], 0) if _has(row.get("occupancy")) else "",
        "tiles on the stack": _int(row.get("stack_bytes"), " B"),
        "compile": f"{significant(row['compile_s'])} s" if _has(row.get("compile_s")) else "",
    }
    text = next((name for name in TEXT_NAMES if name in counts), None)
    found |= {
        f"{cls.title} ({TEXT_NAMES[text]})": f"{counts[text][cls.name]:,}" for cls in lens.CLASSES if text and counts[text].get(cls.name)
    }
    return {name: value for name, value in found.items() if value}


def notes(table: SweepTable, index: int) -> list[str]:
    """What else a person should know before believing the number."""
    row, said = table.rows.loc[index], []
    if _has(row["same_as"]):
        said.append(f"Same generated code as config {int(row['same_as'])}, measured once.")
    if row["short"]:
        said.append("Far slower than the best after a few launches, so it was not measured at length.")
    if row["launch_bound"]:
        said.append("Launch-bound: within twice the time of an empty kernel, so not ranked.")
    if row["finalist"]:
        said.append("A finalist: measured again at the end, in turn with the others.")
    return said


def determinism(trial: Trial | None) -> list[str]:
    """Whether a finalist gave the same bits launch after launch."""
    found = trial.verdict.determinism if trial is not None and trial.verdict is not None else None
    return [f"Launched again: {formats.determinism(found.launches, found.differing)}."] if found is not None else []


def baseline_words(trial: Trial | None) -> str:
    """`Baselines: cuBLAS 211 us (1.05x), eager 212 us (tie)`, the fastest first; their time over ours where it is clear."""
    baselines = trial.baselines if trial is not None else ()
    timed = [(b.timing.median_us, b) for b in baselines if b.status == "ok" and b.timing is not None and b.timing.n]
    told = [
        f"{b.title} {duration_us(us)}" + (f" ({compared_value(b.comparison)})" if b.comparison else "")
        for us, b in sorted(timed, key=lambda each: each[0])
    ]
    return f"Baselines, their time over ours: {', '.join(told)}" if told else ""


def _links(table: SweepTable, problem: int, index: int, trial: Trial | None) -> None:
    if table.view.kernel not in kernels.names():
        st.caption(plain(f"The kernel {table.view.kernel} is not here, so this cannot be opened elsewhere."))
        return
    config = table.configs[index]
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption("Open in", width="content")
        for page, label, icon in (("explore", "Explore", ":material/tune:"), ("codeview", "Code", ":material/code:")):
            if st.button(label, key=f"card_{page}", icon=icon, help=plain(assignments(config))):
                address.take_to(page, table.view, table.problems[problem], config, trial)


def _has(value) -> bool:
    return value is not None and value == value


def _int(value, unit: str = "") -> str:
    return f"{int(value):,}{unit}" if _has(value) else ""
