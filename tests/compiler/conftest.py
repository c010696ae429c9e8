"""A TileLang cache and a small GEMM for the tests that really compile."""

import os

import pytest

from tileviz.compiler import toolchain


@pytest.fixture(scope="module")
def environment(compiler_home):
    """The environment that TileLang needs, with a cache of these tests alone; undone after a module."""
    before = dict(os.environ)
    os.environ.pop("TILELANG_CACHE_DIR", None)
    toolchain.configure_environment(compiler_home)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def no_tools(monkeypatch, tmp_path):
    """No CUDA tool and no C++ compiler anywhere: PATH, CUDA_HOME and wheels are empty."""
    from tileviz.compiler import tools

    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CUDA_HOME", "CUDA_PATH", "CXX", "CC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tools, "cuda_roots", tuple)
