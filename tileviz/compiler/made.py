"""What texts are made from: the compiler's side of `texts.base.Made`."""

from dataclasses import dataclass, field

from tileviz.compiler import disassembly, line_map
from tileviz.compiler.lowering import Lowered
from tileviz.compiler.nvrtc import Compiled
from tileviz.errors import CompileFailed, Limitation, ToolMissing
from tileviz.texts import Mapped, Text


@dataclass(frozen=True)
class Making:
    """A lowered program, and what the CUDA compiler made of it where it came so far."""

    lowered: Lowered
    compiled: Compiled | None = None

    @property
    def source(self) -> str:
        return self.lowered.source

    @property
    def ir(self) -> str | None:
        return self.lowered.ir

    def ir_after(self, name: str) -> str | None:
        return self.lowered.after.get(name)

    def ptx(self) -> Mapped:
        compiled = self._compiled()
        if compiled.ptx is None:
            raise Limitation(f"{compiled.compiler} left no PTX")
        return line_map.ptx_lines(compiled.ptx)

    def sass(self) -> Mapped:
        compiled = self._compiled()
        return disassembly.sass(compiled.cubin, compiled.log)

    def disassembled(self, *options: str) -> str:
        return disassembly.printed(self._compiled().cubin, *options)

    def _compiled(self) -> Compiled:
        if self.compiled is None:
            raise Limitation("only the source was asked for")
        return self.compiled


@dataclass
class Texts:
    """Texts as they are made, why others are missing, and the CUDA line of each line of them."""

    contents: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    lines: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def add(self, text: Text, making: Making) -> None:
        """Makes one text; one that the artifact has a field for comes by itself. What a tool lacks or refuses is the reason that it
        is missing."""
        if text.make is None:
            return
        try:
            made = text.make(making)
        except (ToolMissing, CompileFailed, Limitation) as error:
            self.missing[text.name] = error.message
            return
        mapped = Mapped(made) if isinstance(made, str) else made
        if mapped is None:
            self.missing[text.name] = f"there is no {text.title} of this program"
            return
        self.contents[text.name] = mapped.text
        if any(mapped.lines):
            self.lines[text.name] = line_map.with_products(mapped, making.source).lines
