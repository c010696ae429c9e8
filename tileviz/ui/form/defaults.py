"""Where the knobs of a kernel start from: a preset, or the kernel's plain defaults."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from tileviz.engine import presets
from tileviz.formats import word
from tileviz.kernels.asked import AskedKernel
from tileviz.records import Config, Problem, TunedConfig
from tileviz.ui import links, session
from tileviz.ui.parts.places import Place
from tileviz.ui.parts.stores import presets as known_presets


@dataclass(frozen=True)
class Defaults:
    """What the form holds before anyone touched it, for one kernel and place."""

    problem: dict[str, Any]
    config: dict[str, Any]
    preset: TunedConfig | None = None
    """Where the config comes from; None for the kernel's plain defaults."""

    @property
    def words(self) -> dict[str, str]:
        """Everything as it stands in the form; an empty word for a value that the kernel finds
        itself."""
        return {name: word(value) for name, value in {**self.problem, **self.config}.items()}


def defaults(kernel: AskedKernel, chosen: Place, problem: Problem | None = None) -> Defaults:
    """The default problem of this place, and the config that `problem` (or else that one) starts
    from: the nearest preset's, or the plain defaults where there is none or none is wanted."""
    own = kernel.problem({}, chosen.target.kind)
    return Defaults(own, *start(kernel, chosen, problem or own))


def start(
    kernel: AskedKernel, chosen: Place, problem: Problem, given: Config | None = None
) -> tuple[Config, TunedConfig | None]:
    """(config, the preset that it comes from) of a problem; `given` values stand."""
    offered = () if is_plain() else known_presets(kernel.name)
    return presets.start(
        kernel, problem, chosen.target, offered, device=_device_of(chosen), given=given
    )


def preset_of(kernel: AskedKernel, chosen: Place, problem: Problem) -> TunedConfig | None:
    """The preset that this problem would start from, wanted or not."""
    offered = known_presets(kernel.name)
    return presets.start(kernel, problem, chosen.target, offered, device=_device_of(chosen))[1]


def _device_of(chosen: Place) -> str:
    return chosen.device.name if chosen.device else ""


def is_plain() -> bool:
    """Whether the person went back to the plain defaults."""
    return bool(st.session_state.get(session.PLAIN_WANTED))


def keep_base() -> None:
    """The address says when the plain defaults are wanted, on every page with the form."""
    if is_plain():
        session.link({session.BASE: links.PLAIN})
    else:
        session.unlink(session.BASE)
