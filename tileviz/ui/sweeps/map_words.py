"""What is said under a heatmap: how it was reduced, where the best is, and which
rules pruned whole corners of it."""

import pandas as pd

from tileviz.formats import duration_us
from tileviz.ui.sweeps import corners
from tileviz.ui.sweeps.heatmap import KIND_CODES, NONE, STAR, Choice, asked, panels, place_of
from tileviz.ui.sweeps.table import MEASURED, SweepTable


def caption(table: SweepTable, choice: Choice, frame: pd.DataFrame) -> str:
    """How the picture came about: over which knobs it was reduced, what is fixed, and how many cells were measured."""
    shown = {choice.x, choice.y, choice.by}
    over = [name for name in table.varying if name not in shown and name not in choice.fixed]
    words = f"{choice.reduce.capitalize()} over {', '.join(over)}" if over else "Every cell is one config"
    if choice.fixed:
        words += "; " + ", ".join(f"{name}={value} fixed" for name, value in choice.fixed.items())
    measured, cells = int((frame["kind"] == MEASURED).sum()), len(frame)
    words += f". {measured:,} of {cells:,} cells measured"
    kinds = [(kind, int((frame["kind"] == kind).sum())) for kind in KIND_CODES]
    words += "".join(f", {count:,} {kind}" for kind, count in kinds if count)
    if table.idle:
        words += f". No difference here: {', '.join(table.idle)}"
    many = len(table.values[choice.by]) if choice.by != NONE else 0
    shown_panels = len(panels(table, choice))
    more = f" Only {shown_panels} of {many} values of {choice.by} have a panel." if many > shown_panels else ""
    unit = frame.attrs.get("unit", "")
    return f"{words}. Numbers in {unit}; nothing is interpolated.{more}"


def corner_words(table: SweepTable, choice: Choice) -> str:
    """What pruned the cells that have no other config; empty where none is."""
    names = [name for name in (choice.x, choice.y, choice.by) if name != NONE]
    return corners.corner_words(corners.corners(table, asked(table, choice), names))


def best_words(table: SweepTable, choice: Choice) -> str:
    """Which cell, and of which panel, holds the best; empty where none is named the best."""
    best = table.best(choice.problem)
    if best is None:
        return ""
    us, ordinal = table.rows.at[best, "median_us"], table.rows.at[best, "ordinal"]
    name = f"{STAR} The best is config {ordinal:,}" + (f", {duration_us(us)}" if us == us else "")
    place = place_of(table, choice, int(ordinal))
    if place is None:
        own = {knob: table.knobs.at[best, knob] for knob in choice.fixed}
        away = ", ".join(f"{knob}={value}" for knob, value in own.items() if value != choice.fixed[knob])
        return f"{name}; it has {away}, so it is in no cell here"
    x, y, by = place
    panel = f"panel {choice.by}={by}, " if choice.by != NONE else ""
    return f"{name}: {panel}{choice.x}={x} {choice.y}={y}"
