"""The tree of errors. Every message is one plain sentence that says what to do.

TilevizError
|- BadRequest          the words or numbers asked for cannot be meant; exit status 2
|  |- UnknownName      a name that is not in a registry; says what exists
|  `- BadValue         a value outside what its field or knob takes
|- Limitation          asked for correctly, but this target or device cannot do it
|  |- Pruned           a config that breaks a rule before compiling
|  |- Unsupported      a target that cannot express the program
|  `- NotComparable    a baseline that computes something else for this problem
|- ToolError           an outside tool was called and failed
|  |- ToolMissing      it is not installed; says the line that gets it
|  |- CompileFailed    the compiler refused the program; `detail` keeps its own text
|  |- LaunchFailed     the device refused the launch (resources)
|  `- RuntimeFailed    it started and then failed
|- KernelFault          a kernel's own code failed when it was asked; `detail` keeps its traceback
|- EngineError         the engine that does the work cannot do it: it dies, is silent, or serves another environment
`- StoreError          the store cannot be read or written (disk full, corrupt file, permission)
"""


class TilevizError(Exception):
    """Base of every error this package raises on purpose.

    `detail` is the outside tool's own text, shown folded under the sentence.
    """

    status: str | None = None
    """The trial status this error stands for, or None when it never reaches a trial."""

    def __init__(self, message: str, detail: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail

    def __reduce__(self):
        return type(self), (self.message, self.detail)


class BadRequest(TilevizError):
    """The request itself is wrong: unknown word or impossible number. Exit status 2."""


class UnknownName(BadRequest):
    """A name that no registry holds."""

    @classmethod
    def of(cls, what: str, name: object, known) -> "UnknownName":
        """`no kernel 'gem'; known: flash_attention, gemm, ...`"""
        return cls(f"no {what} '{name}'; known: {', '.join(sorted(map(str, known)))}")


class BadValue(BadRequest):
    """A value outside what its field or knob takes."""


class Limitation(TilevizError):
    """A right request that this target or device cannot serve."""


class Pruned(Limitation):
    status = "pruned"


class Unsupported(Limitation):
    status = "unsupported"


class NotComparable(Limitation):
    status = "unsupported"


class ToolError(TilevizError):
    """An outside tool failed."""


class ToolMissing(ToolError):
    status = "compile_failed"


class CompileFailed(ToolError):
    status = "compile_failed"


class LaunchFailed(ToolError):
    status = "launch_failed"


class RuntimeFailed(ToolError):
    status = "runtime_failed"


class KernelFault(TilevizError):
    """A kernel's own code failed when it was asked for something."""


class EngineError(TilevizError):
    """The engine dies, is silent, or is at work in another environment."""


class StoreError(TilevizError):
    """The store cannot be read or written."""
