"""SASS of machine code, by nvdisasm, or cuobjdump where that is missing."""

import subprocess
import tempfile
from pathlib import Path

from tileviz.compiler import tools
from tileviz.compiler.line_map import Mapped, sass_lines
from tileviz.errors import CompileFailed, ToolMissing


def sass(cubin: bytes) -> Mapped:
    """The text of machine code with the CUDA line of each instruction, which cuobjdump does not tell.

    Raises ToolMissing, or CompileFailed with the tool's own text when it gives nothing.
    """
    for name, options in (("nvdisasm", ["-c", "-gi"]), ("cuobjdump", ["-sass"])):
        tool = tools.cuda_tool(name)
        if tool is not None:
            text = _disassemble(tool, options, cubin)
            return sass_lines(text) if name == "nvdisasm" else Mapped(text, ())
    raise ToolMissing("nvdisasm and cuobjdump not found: pip install nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump, or set CUDA_HOME")


def _disassemble(tool: Path, options: list[str], cubin: bytes) -> str:
    with tempfile.NamedTemporaryFile(suffix=".cubin", prefix="tileviz-") as file:
        file.write(cubin)
        file.flush()
        try:
            said = subprocess.run([tool, *options, file.name], capture_output=True, text=True)
        except OSError as error:
            raise CompileFailed(f"{tool.name} could not be started: {error.strerror}", str(error)) from error
    if said.returncode != 0 or "/*0000*/" not in said.stdout:
        problem = next((line for line in said.stderr.splitlines() if line.strip()), "it printed no instruction")
        raise CompileFailed(f"{tool.name} gave no SASS: {problem}", said.stderr or said.stdout)
    return said.stdout
