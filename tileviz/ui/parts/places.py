"""Where a kernel can go from here: the devices of this machine, and the architectures that are
compiled for and read only."""

from dataclasses import dataclass

import streamlit as st

from tileviz.compiler import targets
from tileviz.engine import requests
from tileviz.errors import UnknownName
from tileviz.records import Device, Target

NO_GPU = "No GPU here: kernels run on the CPU target; CUDA code can be read, not run."

CPU_CAVEAT = (
    "Functional run on the CPU, one thread each (TileLang's C is one serial loop): no"
    " claim of speed."
)


@dataclass(frozen=True)
class Place:
    """One entry of the chooser."""

    word: str
    """As it stands in the address: `cpu`, `cuda:0`, `sm_90a`."""
    target: Target
    device: Device | None
    """None: code for it can be compiled and read, not run."""

    @property
    def runs(self) -> bool:
        return self.device is not None

    @property
    def kind(self) -> str:
        """`run` or `compile`: what the button does here."""
        return "run" if self.runs else "compile"


@st.cache_resource(ttl=300, show_spinner=False)
def devices() -> list[Device]:
    """The devices of this machine, GPUs first."""
    return requests.local_devices()


def places() -> dict[str, Place]:
    """By word: usable devices first, then every other CUDA architecture."""
    found = {d.id: Place(d.id, targets.target(d.target), d) for d in requests.usable(devices())}
    here = {p.target.name for p in found.values()}
    for name in targets.TARGETS:
        if name not in here:
            found[name] = Place(name, targets.target(name), None)
    return found


def place(word: str) -> tuple[Place, str]:
    """(place, note) of a word from an address: a device, or a target spelled as loosely as on the
    command line. Raises UnknownName."""
    known = places()
    if word in known:
        return known[word], ""
    wanted = targets.target(word)
    for candidate in known.values():
        if candidate.target.name == wanted.name:
            return candidate, wanted.note
    raise UnknownName.of("target or device", word, known)


def has_gpu() -> bool:
    return any(p.runs and p.target.is_cuda for p in places().values())


def describe(chosen: Place) -> str:
    """One line under the chooser."""
    if chosen.device is None:
        return "Compile only: no such device here, its code can be read."
    return f"{chosen.device.name}: runs here."
