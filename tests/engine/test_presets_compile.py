"""Every preset of every kernel, compiled for real: nothing spills, and the instructions are those that each architecture is known for.

Without TILEVIZ_FULL=1 one preset of a kernel stands for the others, and the architectures that differ in kind for all.
"""

import functools
import os
import re
from collections.abc import Iterator

import pytest

from tests import long_proofs
from tileviz import kernels, lens
from tileviz.compiler import headers, make_headers, toolchain
from tileviz.compiler.pipeline import compile_program
from tileviz.compiler.targets import target
from tileviz.records import Artifact

TARGETS = ("sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a")

PRODUCT = {"sm_80": "HMMA", "sm_89": "HMMA", "sm_90a": "HGMMA", "sm_100a": "HMMA", "sm_120a": "HMMA"}
"""The matrix instruction of T.gemm. On Blackwell tcgen05 has to be asked for by name: the variant of the two GEMM kernels does."""
COPY = {"sm_80": "LDGSTS", "sm_89": "LDGSTS", "sm_90a": "UTMALDG", "sm_100a": "UTMALDG", "sm_120a": "UTMALDG"}
MATRIX_KERNELS = ("gemm", "gemm_bias_gelu", "flash_attention")

QUICK = [
    ("gemm", "square 4096", "sm_80"),
    ("gemm", "square 4096", "sm_89"),
    ("gemm", "square 4096", "sm_90a"),
    ("gemm", "square 4096", "sm_100a"),
    ("gemm", "square 4096", "sm_120a"),
    ("gemm", "odd sizes", "sm_100a"),
    ("gemm_bias_gelu", "square 4096", "sm_90a"),
    ("gemm_bias_gelu", "square 4096", "sm_100a"),
    ("flash_attention", "head 64", "sm_90a"),
    ("flash_attention", "head 64", "sm_120a"),
    ("softmax", "rows of 8192", "sm_90a"),
    ("softmax", "rows of 100001", "sm_80"),
    ("vector_add", "odd length", "sm_90a"),
]


def presets(name: str) -> list[str]:
    return [preset.name for preset in kernels.code(name).presets if preset.kind != "cpu"]


ALL = [(name, preset, arch) for arch in TARGETS for name in kernels.names() for preset in presets(name)]
FULL = bool(os.environ.get("TILEVIZ_FULL"))


@pytest.fixture(scope="module", autouse=True)
def environment(tmp_path_factory) -> Iterator[None]:
    """A TileLang cache of these tests alone, and a place for precompiled headers."""
    before = dict(os.environ)
    os.environ.pop("TILELANG_CACHE_DIR", None)
    toolchain.configure_environment(tmp_path_factory.mktemp("presets"))
    headers.open_store(tmp_path_factory.mktemp("headers"))
    yield
    headers.close_store()
    os.environ.clear()
    os.environ.update(before)


@functools.cache
def prepare(arch: str) -> None:
    """The precompiled header of an architecture: it takes seconds, and each later compile one second less."""
    make_headers.make(arch)


def compiled(name: str, preset_name: str, arch: str) -> tuple[dict, Artifact]:
    """(problem, artifact) of a preset, with the config that a run of it would start from."""
    kernel, chosen = kernels.code(name), target(arch)
    preset = next(preset for preset in kernel.presets if preset.name == preset_name)
    problem = kernel.problem(preset.problem, "cuda")
    config = kernel.config(preset.config, chosen, problem)
    assert kernel.rules(problem, config, chosen).broken == ()
    build = lambda: kernel.build(problem, config, chosen)
    return problem, compile_program(build, chosen, kernel.pass_configs(config), key="preset")


def opcodes(sass: str) -> set[str]:
    return set(re.findall(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w+)", sass, re.M))


def check(name: str, preset: str, arch: str) -> None:
    problem, artifact = compiled(name, preset, arch)
    assert artifact.missing == {}
    found, resources = opcodes(artifact.sass), artifact.resources
    assert resources.spill_bytes == 0, f"{resources.spill_bytes:,} B of local memory a thread"
    assert not {"LDL", "STL"} & found
    assert resources.registers <= 255 and resources.blocks_per_sm >= 1, "a block of it fits"
    assert lens.counts(artifact.sass, "sass")["trap"] == (2 if "UTCHMMA" in found else 0), "only the guards of tensor memory trap"
    if name in MATRIX_KERNELS:
        check_ladder(name, problem, arch, found)


def check_ladder(name: str, problem: dict, arch: str, found: set[str]) -> None:
    """The matrix instruction and the copies of an architecture; rows that are not whole 16 bytes have no TMA, and here no cp.async."""
    odd = any(problem[size] % 8 for size in ("N", "K") if size in problem)
    tcgen05 = arch == "sm_100a" and name != "flash_attention" and not odd
    product = "UTCHMMA" if tcgen05 else PRODUCT[arch]
    assert found & {"HMMA", "HGMMA", "UTCHMMA"} == {product}
    assert found & {"LDGSTS", "UTMALDG"} == (set() if odd else {COPY[arch]})
    if tcgen05:
        assert {"UTCBAR", "LDTM", "UTMASTG"} <= found, "sums are awaited, read from tensor memory, and stored by TMA"


@pytest.mark.parametrize(("name", "preset", "arch"), long_proofs.cases(QUICK, 0, 2, 3, 10, 12))
def test_a_preset_keeps_its_values_in_registers_and_uses_what_the_architecture_has(name, preset, arch):
    check(name, preset, arch)


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="compiles for many minutes: set TILEVIZ_FULL=1")
@pytest.mark.parametrize(("name", "preset", "arch"), ALL)
def test_every_preset_does_on_every_architecture(name, preset, arch):
    prepare(arch)
    check(name, preset, arch)


def test_the_quick_ones_are_presets_that_there_are():
    assert set(QUICK) <= set(ALL)
