"""The targets: CUDA architectures with their limits, and the CPU."""

import re

from tileviz.errors import UnknownName
from tileviz.records import Limits, Target

KB = 1024


def _limits(shared_block_kb: int, shared_sm_kb: int, threads: int, blocks: int, reserved_bytes: int = 1024) -> Limits:
    return Limits(
        shared_per_block_bytes=shared_block_kb * KB,
        shared_per_sm_bytes=shared_sm_kb * KB,
        shared_reserved_bytes=reserved_bytes,
        threads_per_sm=threads,
        blocks_per_sm=blocks,
    )


# CUDA programming guide, "Compute capabilities": shared memory a block and an SM in KB, threads and blocks resident on an SM.
LIMITS = {
    "sm_70": _limits(96, 96, 2048, 32, reserved_bytes=0),
    "sm_75": _limits(64, 64, 1024, 16, reserved_bytes=0),
    "sm_80": _limits(163, 164, 2048, 32),
    "sm_86": _limits(99, 100, 1536, 16),
    "sm_87": _limits(163, 164, 1536, 16),
    "sm_89": _limits(99, 100, 1536, 24),
    "sm_90a": _limits(227, 228, 2048, 32),
    "sm_100a": _limits(227, 228, 2048, 32),
    "sm_103a": _limits(227, 228, 2048, 32),
    "sm_110a": _limits(227, 228, 1536, 24),
    "sm_120a": _limits(99, 100, 1536, 24),
    "sm_121a": _limits(99, 100, 1536, 24),
}

BY_NAME_ALONE = ("sm_87", "sm_110a", "sm_121a")
"""Taken by `target`, and in no list of what is offered."""

TARGETS = ("cpu", *(name for name in LIMITS if name not in BY_NAME_ALONE))
"""Names that are offered, in order. A new architecture costs its line in LIMITS."""

SOURCE_ONLY_NOTE = "the CUDA 13 toolkit makes no machine code for sm_70: its CUDA text can be read, not compiled"

# `sm_90a`, `sm90`, `90`, `9.0`, `compute_90`
_ARCH = re.compile(r"^(?:sm_?|compute_?)?(\d{2,3}|\d{1,2}\.\d)(a?)$")


def target(name: str) -> Target:
    """The target of a name, spelled as the toolkit does or loosely (`90`, `sm90`, `9.0`).

    Architectures from sm_90 on are compiled with their `a` suffix, and the note says so. Raises UnknownName.
    """
    asked = str(name).strip().lower()
    if asked in ("cpu", "c"):
        return Target("cpu", "cpu")
    match = _ARCH.match(asked)
    if match is None:
        raise UnknownName.of("target", name, TARGETS)
    plain = "sm_" + match[1].replace(".", "")
    arch = plain if plain in LIMITS else plain + "a"
    if arch not in LIMITS or (match[2] and arch == plain):
        raise UnknownName.of("target", name, TARGETS)
    note = SOURCE_ONLY_NOTE if arch == "sm_70" else ""
    if arch != plain and not match[2]:
        note = f"{plain} is compiled as {arch}: TileLang's code for it needs instructions that only the 'a' variant has"
    return Target(arch, "cuda", capability(arch), LIMITS[arch], note, source_only=arch == "sm_70")


def why_unusable(name: str) -> str:
    """Why nothing can be made for a device of this target, in a few words: `no code for sm_61`; empty where something can. A device whose
    capability is not told has no name of a target."""
    if not name:
        return "its compute capability is not told"
    try:
        return f"no machine code for {name}" if target(name).source_only else ""
    except UnknownName:
        return f"no code for {name.rstrip('a')}"


def capability(arch: str) -> tuple[int, int]:
    """`sm_90a` -> (9, 0), `sm_103a` -> (10, 3)."""
    return divmod(int(arch.removeprefix("sm_").rstrip("a")), 10)
