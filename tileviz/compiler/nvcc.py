"""Compiles CUDA text with nvcc: for flags that NVRTC does not take, and where NVRTC is missing. Needs a C++ compiler."""

import subprocess
import tempfile
from pathlib import Path

from tileviz.compiler import failures, headers, tools
from tileviz.compiler.nvrtc import Compiled
from tileviz.errors import CompileFailed


def is_available() -> bool:
    return tools.cuda_tool("nvcc") is not None and tools.cxx() is not None


def compile_source(source: str, arch: str, flags: tuple[str, ...] = ()) -> Compiled:
    """PTX and machine code of CUDA text for `arch`. Raises CompileFailed with the compiler's text, or ToolMissing.

    The processes it starts stay in the caller's process group, so that killing the group ends them too.
    """
    nvcc, cxx = tools.require("nvcc", "compile CUDA"), tools.require_cxx("compile CUDA with nvcc")
    with tempfile.TemporaryDirectory(prefix="tileviz-nvcc-") as folder:
        place = Path(folder)
        (place / "kernel.cu").write_text(source)
        includes = [f"-I{path}" for path in headers.template_dirs()]
        command = [
            nvcc, f"-ccbin={cxx}", "--cubin", "-O3", "-lineinfo", "-w", f"-arch={arch}", "-std=c++20", *includes, "-Xptxas", "-v", *flags,
            "--keep", f"--keep-dir={folder}", "-o", place / "kernel.cubin", place / "kernel.cu",
        ]  # fmt: skip
        said = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=folder)
        log = (said.stdout + said.stderr).replace(folder + "/", "")
        if said.returncode != 0:
            raise failures.cxx_failed("nvcc", log or f"nvcc ended with status {said.returncode}")
        cubin = (place / "kernel.cubin").read_bytes()
        if not cubin:
            raise CompileFailed("nvcc made an empty file", log)
        ptx = place / "kernel.ptx"
        return Compiled(ptx.read_text() if ptx.is_file() else None, cubin, f"nvcc {short(tools.version_of(nvcc))}", log)


def short(version: str | None) -> str:
    """`13.5.37` -> `13.5`."""
    return ".".join((version or "").split(".")[:2])
