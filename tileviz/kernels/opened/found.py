"""What was found in a file with TileLang kernels: frozen records that come back equal from their
JSON."""

from typing import Any, Literal

import msgspec

from tileviz.errors import StoreError

Form = Literal["eager", "lazy", "bare"]
"""`eager`: the factory's body is the kernel; `lazy`: it returns a T.prim_func; `bare`: a
T.prim_func handed to `tilelang.compile`."""

Role = Literal["in", "out", "in place"]
"""`out` is written and never read, `in place` is both."""

Moved = Literal["size", "option", "fixed"]
"""What an argument that says what is computed turned out to be when it was moved: `size` changes the
shape of an argument of the kernel; `fixed` cannot be moved: another value was refused."""

Part = Literal["dtype", "knob"] | Moved
"""All that an argument of a factory may be."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what is found; equal where all fields are."""


class Field(Record, frozen=True):
    """An argument of the factory that says what is computed: a size, or a flag or number that no
    autotune list names."""

    name: str
    value: Any
    """As `values.stored` keeps it."""
    dtype: str
    """int, float, bool, text, none, tuple, ..."""
    kind: Moved = "option"


class Knob(Record, frozen=True):
    """An argument that changes how it is computed: shapes and dtypes of the kernel's arguments
    stay."""

    name: str
    value: Any
    domain: tuple[Any, ...] = ()
    """The values of the autotune list; empty where none names it."""


class Tensor(Record, frozen=True):
    """An argument of the kernel itself."""

    name: str
    shape: tuple[int | str, ...] | None
    """Elements of each dimension; the name of one that is known at run time only. None for a
    scalar."""
    dtype: str
    """In TileLang's words."""
    role: Role
    integer: bool
    """Whether it holds whole numbers that may be indices or lengths: random values could lead out
    of bounds."""
    called_with: tuple[int, ...] | None = None
    """Shape that the file's own script handed over; None where it was not called with tensors."""
    strides: tuple[int, ...] | None = None
    """Elements between neighbours of each dimension, of the tensor that was handed over."""
    least: int | None = None
    """Smallest value of an integer tensor that was handed over."""
    most: int | None = None


class Reference(Record, frozen=True):
    """The file's own check."""

    how: Literal["profiler", "comparison", "autotune", "derived"]
    """`profiler`: a callable was handed to the profiler; `comparison`: the kernel's output was
    compared with a tensor; `derived`: a tensor computed from the output was; `autotune`: the
    ref_prog of @autotune."""
    name: str
    """Of the callable, or of the function that compared."""
    line: int | None = None
    """In the file."""
    rtol: float | None = None
    atol: float | None = None


class Code(Record, frozen=True):
    """What tileviz's own compiler made of a kernel for a target."""

    target: str
    cuda_lines: int | None = None
    registers: int | None = None
    """A thread; None where no CUDA compiler is here."""
    spill_bytes: int | None = None
    reason: str = ""
    """Why there is no code; empty where there is."""


class FoundKernel(Record, frozen=True):
    """A kernel of the file with all that is known of it."""

    name: str
    """Unique in the file."""
    title: str
    """Qualified name of its factory, or of the T.prim_func."""
    file: str
    line: int
    """Where its factory, or its call of `tilelang.compile`, stands."""
    form: Form
    how: Literal["recorded", "read", ""] = ""
    """`recorded`: the file's script called it; `read`: its values were read from a call site; ""
    where some are not known."""
    fields: tuple[Field, ...] = ()
    knobs: tuple[Knob, ...] = ()
    dtypes: dict[str, str] = {}
    """Arguments that change a dtype of the kernel's arguments, with their values."""
    tensors: tuple[Tensor, ...] = ()
    called: Literal["tensors", "profiler", ""] = ""
    """How its script runs it: with tensors of its own, or with those that the profiler supplies."""
    out_idx: tuple[int, ...] = ()
    """Which tensors TileLang allocates, from 0."""
    reference: Reference | None = None
    configs: int = 0
    """Length of its autotune list."""
    pass_configs: dict[str, str] = {}
    compile_flags: tuple[str, ...] = ()
    target: str | None = None
    """Where its script names one."""
    tir: str = ""
    """SHA-256 of the TIR's text, first 16 digits."""
    missing: tuple[str, ...] = ()
    """Names whose values are not known."""
    why: str = ""
    """Why they are not."""
    code: tuple[Code, ...] = ()


class Found(Record, frozen=True):
    """A file that was opened."""

    file: str
    """Its full path."""
    hash: str
    """SHA-256 of its text, first 16 digits."""
    siblings: dict[str, str] = {}
    """Hash of every other file of the same project that it imported, by full path."""
    kernels: tuple[FoundKernel, ...] = ()
    stood_in: tuple[str, ...] = ()
    """Modules that are not installed and were stood in for."""
    troubles: tuple[str, ...] = ()
    """What went wrong while it was opened, one sentence each."""
    ended: str = ""
    """How its own script ended: `finished`, `raised`, `exited`, `timeout`, `killed`,
    `read only`."""
    printed: str = ""
    """The end of what its script printed."""


def to_json(found: Found) -> Any:
    """Plain JSON values."""
    return msgspec.to_builtins(found)


def from_json(document: Any) -> Found:
    """The Found that `to_json` wrote. Raises StoreError for another document."""
    try:
        return msgspec.convert(document, Found)
    except msgspec.ValidationError as error:
        raise StoreError(f"this is no description of an opened file: {error}") from error
