"""Compiled programs as callables, and what the fork server prepares before it forks."""

import os
from collections.abc import Callable
from pathlib import Path

from tileviz.compiler import failures, headers, host, lowering, make_headers, nvrtc
from tileviz.errors import TilevizError
from tileviz.records import Target


def executable(build: Callable, target: Target, pass_configs: dict | None = None, *, key: str = "") -> Callable:
    """A callable that runs `build()` on torch tensors: run(*inputs, output) fills `output` and allocates nothing.

    It comes from TileLang's cache when `compile_program` left it there, at once and without a build where that had the same `key`; else
    it is compiled now. A CUDA launch is asynchronous; what a
    later wait for it raises is for `device_failed`. Raises CompileFailed and ToolMissing here; LaunchFailed and RuntimeFailed when called.
    """
    configs = dict(pass_configs or {})
    with failures.by_their_cause():
        if target.kind == "cpu":
            kernel = host.cpu_kernel(build(), configs)
        else:
            kernel = host.left_ready(key) or host.cuda_kernel(build(), target, configs)[0]

    def run(*tensors) -> None:
        try:
            kernel(*tensors)
        except Exception as error:
            raise failures.device_failed(error) from error

    return run


def device_failed(error: BaseException) -> TilevizError:
    """A CUDA error that surfaced after a launch, as LaunchFailed or RuntimeFailed."""
    return failures.device_failed(error)


def warm_up(home: Path | None = None, archs: tuple[str, ...] = ()) -> None:
    """Imports TileLang and loads NVRTC; keeps precompiled headers under TileLang's cache, or `home`; makes one for each of `archs`.

    For the preload of a fork server: what is loaded here serves every child, and a child can make more headers with `prepare`. Takes
    1.5 s, and 1.5 to 4 s for each header. Call `configure_environment` first.
    """
    lowering.imported()
    if not nvrtc.is_available():
        return
    if home is not None:
        headers.open_store(_headers_root(home))
    for arch in archs:
        prepare(arch)


def prepare(target: str) -> bool:
    """Makes the precompiled header of an architecture (`sm_90a`) when it is not there; False when it cannot be had.

    It serves every process forked from the one that called `warm_up`.
    """
    return nvrtc.is_available() and make_headers.make(target) is not None


def clear_headers(home: Path) -> None:
    """Clears the precompiled headers that processes which are gone left: some hundred MB each. For the end of an engine."""
    headers.clear_dead(_headers_root(home))


def _headers_root(home: Path) -> Path:
    return Path(os.environ.get("TILELANG_CACHE_DIR") or home) / "headers"
