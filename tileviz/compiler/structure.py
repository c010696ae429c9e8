"""TileLang's own pass visualizer over one of our programs: the tree of blocks after every pass, operations spelled out by field.

It watches the front half of the CUDA pipeline, up to where tile operations are threads and instructions; other targets it does not take.
"""

import contextlib
import io
import tempfile
from collections.abc import Callable
from pathlib import Path

from tileviz.compiler import lowering
from tileviz.errors import Unsupported
from tileviz.records import Target

PROGRAM = "program"

# The visualizer takes a file and the name of a program in it.
_FILE = f"from tileviz.compiler import structure\n\n{PROGRAM} = structure.handed_over()\n"

_handed: list = []


def read_structure(build: Callable, target: Target, pass_configs: dict, source: str, name: str) -> str:
    """A page of HTML that stands alone, with `source` as its first step and `name` as its title. Takes one to five times as long as
    lowering. Raises Unsupported for a target without CUDA, and what `lowering.lower` raises."""
    if not target.is_cuda:
        raise Unsupported("TileLang's pass visualizer reads CUDA targets only")
    lowering.imported()
    from tilelang.tools.pass_visualizer import viewer

    with tempfile.TemporaryDirectory(prefix="tileviz-structure-") as folder, contextlib.redirect_stdout(io.StringIO()):
        path = Path(folder) / "handed_over.py"
        path.write_text(_FILE)
        with lowering.translated(), lowering.tvm_target(target) as tvm_target:
            program = lowering.supported(build(), target)
            configs = lowering.as_tilelang_takes(pass_configs)
            configs.pop(lowering.LINE_DIRECTIVES)
            _handed[:] = [program.with_attr("tilelang_pass_configs", configs)]
            try:
                _, stages = viewer.build_pass_data(str(path), PROGRAM, tvm_target, {}, source)
            finally:
                _handed.clear()
    return viewer.emit_html(name, stages)


def handed_over():
    """The program that the visualizer's file stands for."""
    return _handed[0]
