"""`presets`: what knobs start from that are not given: the user's own presets and the recorded
ones."""

import json

from tileviz import formats
from tileviz.cli.trials import say
from tileviz.engine import presets as engine
from tileviz.errors import BadRequest
from tileviz.kernels import kernel as kernel_of
from tileviz.records import TunedConfig
from tileviz.records_json import to_json
from tileviz.store import StoreWithRecorded


def presets(asked) -> int:
    """Lists them, or forgets one of the user's own. Raises BadRequest for one that is not there,
    UnknownName for a kernel."""
    store = StoreWithRecorded()
    if asked.kernel:
        kernel_of(asked.kernel)
    if asked.forget:
        if not store.forget_tuned(asked.forget):
            raise BadRequest(
                f"no preset '{asked.forget}' of your own; `python -m tileviz presets` lists them"
            )
        say(f"preset {asked.forget} is forgotten")
    found = engine.known(store, asked.kernel)
    if asked.json:
        print(json.dumps({"presets": [to_json(tuned) for tuned in found]}))
    else:
        print("\n".join(map(preset_text, found)) or "no presets: `sweep --keep-best` makes them")
    return 0


def preset_text(tuned: TunedConfig) -> str:
    """Three lines: of what, which config, and how good it is; one more where nothing starts from
    it."""
    whose = (
        engine.recorded_words(tuned.device, tuned.created)
        if tuned.recorded
        else f"your own, {tuned.id}, on {tuned.device}"
    )
    rate = ", ".join(
        [formats.duration_us(tuned.median_us), *formats.rates(tuned.tflops, tuned.gbps)]
    )
    against = (
        f", {formats.compared_with(tuned.comparison, tuned.baseline)}"
        if tuned.comparison is not None
        else ""
    )
    problem, config = formats.assignments(tuned.problem), formats.assignments(tuned.config)
    unused = engine.why_unused(tuned)
    return f"{tuned.kernel} {problem} ({tuned.target}, {whose})\n  {config}\n  {rate}{against}" + (
        f"\n  {unused}" if unused else ""
    )
