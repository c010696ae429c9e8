"""SASS of machine code, by nvdisasm, or cuobjdump where that is missing."""

import re
import subprocess
import tempfile
from pathlib import Path

from tileviz.compiler import tools
from tileviz.compiler.line_map import Mapped, sass_lines
from tileviz.errors import CompileFailed, ToolMissing


def sass(cubin: bytes, log: str = "") -> Mapped:
    """The text of machine code with the CUDA line of each instruction, which cuobjdump does not tell. `log` is what ptxas said of it.

    Raises ToolMissing, or CompileFailed with the tool's own text when it gives nothing.
    """
    nvdisasm, cuobjdump = tools.cuda_tool("nvdisasm"), tools.cuda_tool("cuobjdump")
    if nvdisasm is not None:
        text = "" if _STACK.search(log) else _disassemble(nvdisasm, ["-c", "-gi", "-ndf"], cubin)
        if not text or _NOTED.search(text):
            text = _disassemble(nvdisasm, ["-c", "-gi"], cubin)
        return sass_lines(text)
    if cuobjdump is not None:
        return Mapped(_disassemble(cuobjdump, ["-sass"], cubin), ())
    raise ToolMissing("nvdisasm and cuobjdump not found: pip install nvidia-cuda-nvdisasm nvidia-cuda-cuobjdump, or set CUDA_HOME")


# Instructions that nvdisasm's analysis of the data flow has remarks on: spills, and jumps through a table. It changes nothing else, and
# costs a third of the time. ptxas tells of most of them beforehand:
#     304 bytes stack frame, 320 bytes spill stores, 256 bytes spill loads
_STACK = re.compile(r"\b[1-9]\d* bytes stack frame")
_NOTED = re.compile(r"\b(?:STL|LDL|BRX|JMX|BRXU|JMXU)\b")


def printed(cubin: bytes, *options: str) -> str:
    """What nvdisasm prints of machine code. Raises ToolMissing, or CompileFailed with its own text when it gives nothing."""
    nvdisasm = tools.cuda_tool("nvdisasm")
    if nvdisasm is None:
        raise ToolMissing("nvdisasm not found: pip install nvidia-cuda-nvdisasm, or set CUDA_HOME")
    return _disassemble(nvdisasm, [*options], cubin)


def _disassemble(tool: Path, options: list[str], cubin: bytes) -> str:
    with tempfile.NamedTemporaryFile(suffix=".cubin", prefix="tileviz-") as file:
        file.write(cubin)
        file.flush()
        try:
            said = subprocess.run([tool, *options, file.name], capture_output=True, text=True, errors="replace")
        except OSError as error:
            raise CompileFailed(f"{tool.name} could not be started: {error.strerror}", str(error)) from error
    if said.returncode != 0 or "/*0000*/" not in said.stdout:
        problem = next((line for line in said.stderr.splitlines() if line.strip()), "it printed no instruction")
        raise CompileFailed(f"{tool.name} gave no SASS: {problem}", said.stderr or said.stdout)
    return said.stdout
