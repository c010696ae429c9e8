"""What only a kernel's own code can answer: each question is a record that says what it gives.

    Problems      typed values    ->  complete problems
    Configs       typed values    ->  complete configs; of {} the plain defaults
    Unsupported   problems        ->  why a target cannot do them at all
    Rules         configs         ->  what is known before compiling, broken rules among it
    SameCode      configs         ->  the config that stands for all that generate the same code
    Traffic       configs         ->  the bytes that they move through each level of memory
    Work          problems        ->  FLOPs and bytes
    Precision     problems        ->  what precision it multiplies in, and how far it may be off
    Arguments     problems        ->  the tensors that go in and come out
    Conventions   problems        ->  what others read otherwise, in sentences
    Offers        problems        ->  the baselines, and why one cannot be compared
    Sources                       ->  the kernel's text, and the hash of all that decides its code

A question asks about a list, and its answer is a list in the same order: a sweep asks about
thousands of configs at once. Both travel as JSON, so the code may live in this process (`built_in`)
or in a child. Where there is no answer, a Refusal stands in its place.
"""

from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec import field as default

from tileviz import errors, records
from tileviz.errors import KernelFault, TilevizError
from tileviz.records import Chain, Config, Estimate, Problem, Target

T = TypeVar("T")
"""What is given for one thing of a list, or None."""


# what is asked


class Question(Struct, frozen=True, tag_field="question"):
    """What all questions share. `gives` is the type of the answer to one thing of the list."""

    gives: ClassVar[Any]
    kept: ClassVar[bool] = True
    """Whether the same question always has the same answer, while the card is the same."""


class Problems(Question, frozen=True, tag="problems"):
    """Completes and checks problems for a kind of device. Refused with UnknownName, BadValue."""

    values: list[dict[str, Any]]
    """What was given of each, words or numbers; a field that is left out takes its default."""
    kind: str = "cuda"
    """`cuda` or `cpu`."""
    gives: ClassVar = Problem


class Configs(Question, frozen=True, tag="configs"):
    """Completes and checks configs. Refused with UnknownName, BadValue.

    A knob that is left out takes what suits the problem, else the target, else its own default.
    What suits the problem is taken as a whole: where it breaks a rule beside the given knobs, the
    target's defaults take its place.
    """

    values: list[dict[str, Any]]
    """What was given of each, words or numbers; pass configs by their TileLang names."""
    target: Target | None = None
    problem: Problem | None = None
    gives: ClassVar = Config


class Unsupported(Question, frozen=True, tag="unsupported"):
    """Why a target cannot express problems, whatever the config, a sentence; None where it can."""

    problems: list[Problem]
    target: Target
    gives: ClassVar = str | None


class Rules(Question, frozen=True, tag="rules"):
    """What is known of configs before anything is compiled: resources, broken rules, notes."""

    problem: Problem
    configs: list[Config]
    target: Target
    gives: ClassVar = Estimate


class SameCode(Question, frozen=True, tag="same code"):
    """The canonical form of configs: those that are equal here generate the same code."""

    problem: Problem
    configs: list[Config]
    target: Target
    gives: ClassVar = Config


class Traffic(Question, frozen=True, tag="traffic"):
    """The chains of launches that compute a problem, from the least fused to the kernel's own, with
    the bytes that each moves by formula; of configs as they were stored. None without a model."""

    problem: Problem
    configs: list[Config]
    l2_bytes: int | None = None
    """L2 of the device, which with its SMs tells whether a second read finds its row there."""
    sm_count: int | None = None
    gives: ClassVar = tuple[Chain, ...]


class Work(Question, frozen=True, tag="work"):
    """FLOPs and least bytes of problems, each with its formula."""

    problems: list[Problem]
    gives: ClassVar = records.Cost


class Exactness(Struct, frozen=True):
    """What the tolerance of one problem follows from."""

    math_mode: str
    """Precision the products are formed in: `float32`, `TF32`, `float16`, `bfloat16`."""
    accumulate: int
    """Terms of the longest sum behind one output element: the tolerance grows with its root."""
    error_scale: str
    """Name of the kind of error: `exact` (elementwise), `sum` (dot products), `shares` (of a row), `averages` (by shares)."""
    cancelled: float
    """Largest absolute error that evaluating the output adds whatever the output's size."""


class Precision(Question, frozen=True, tag="precision"):
    """In what precision a target multiplies, and what the tolerance of the check follows from."""

    problems: list[Problem]
    target: Target
    gives: ClassVar = Exactness


class Tensor(Struct, frozen=True):
    """One argument of a program."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    scalar: bool = False
    """Whether it is a plain number, with the shape of none."""


class Signature(Struct, frozen=True):
    """The arguments of one problem's program."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    """Tensors that are written and are no inputs; there may be none."""
    in_place: tuple[str, ...] = ()
    """Names of inputs that the program writes over."""
    order: tuple[str, ...] = ()
    """Names in the order of the program's parameters; empty for inputs, then outputs."""

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tensor.shape for tensor in (*self.inputs, *self.outputs)]

    @property
    def in_order(self) -> tuple[str, ...]:
        """Names in the order of the program's parameters."""
        return self.order or tuple(tensor.name for tensor in (*self.inputs, *self.outputs))

    @property
    def written(self) -> tuple[Tensor, ...]:
        """Every tensor that is written: outputs, then inputs that are written over."""
        over = {tensor.name: tensor for tensor in self.inputs}
        return (*self.outputs, *(over[name] for name in self.in_place))


class Arguments(Question, frozen=True, tag="arguments"):
    """The tensors that problems take and give."""

    problems: list[Problem]
    gives: ClassVar = Signature


class Conventions(Question, frozen=True, tag="conventions"):
    """What of problems others read otherwise, and how it is read here, a sentence each."""

    problems: list[Problem]
    gives: ClassVar = tuple[str, ...]


class Offer(Struct, frozen=True):
    """A baseline as it stands for one problem."""

    name: str
    math_mode: str
    """`float16 in, float32 accumulate`: in what precision it computes."""
    unavailable: str = ""
    """Why it cannot be compared for this problem, in one sentence."""


class Offers(Question, frozen=True, tag="offers"):
    """The baselines for problems, in the order of the card; not kept: one may be installed."""

    problems: list[Problem]
    gives: ClassVar = tuple[Offer, ...]
    kept: ClassVar = False


class Text(Struct, frozen=True):
    """The kernel as it was written."""

    text: str
    """Its file."""
    hash: str
    """Of this and all other files that decide the generated code."""


class Sources(Question, frozen=True, tag="sources"):
    """The kernel's file as it is on disk now: one answer, not kept, since a file may be edited."""

    gives: ClassVar = Text
    kept: ClassVar = False


Asked = (
    Problems | Configs | Unsupported | Rules | SameCode | Traffic  # of knobs and problems
    | Work | Precision | Arguments | Conventions | Offers | Sources  # of problems alone
)  # fmt: skip
"""Any of the questions."""


# what is answered


class Refusal(Struct, frozen=True):
    """Why there is no answer: an error, as it travels."""

    error: str
    """Name of a class of `errors`; any other name is a fault of the kernel's own code."""
    message: str
    detail: str = ""

    @classmethod
    def of(cls, error: Exception, detail: str = "") -> "Refusal":
        """Of what the kernel's code raised."""
        if isinstance(error, TilevizError):
            return cls(type(error).__name__, error.message, error.detail)
        return cls(KernelFault.__name__, f"{type(error).__name__}: {error}", detail)

    def as_error(self) -> TilevizError:
        """The error, to be raised where the question was asked."""
        known = getattr(errors, self.error, None)
        kind = known if isinstance(known, type) and issubclass(known, TilevizError) else KernelFault
        return kind(self.message, self.detail)


class Answer(Struct, Generic[T], frozen=True):
    """The answers to one question."""

    given: list[T]
    """One for each thing asked about, in order; None where `refused` says why."""
    refused: dict[int, Refusal] = default(default_factory=dict)
    """By place in the list."""

    @property
    def final(self) -> bool:
        """False where the kernel's own code failed: asked again, it may not."""
        return not any(refusal.error == KernelFault.__name__ for refusal in self.refused.values())

    def values(self) -> list[T]:
        """All of them. Raises the first refusal, as the error that it was."""
        for place in sorted(self.refused):
            raise self.refused[place].as_error()
        return self.given


_to_question = msgspec.json.Decoder(Asked)


def question_from_json(text: bytes) -> Asked:
    """The question that `msgspec.json.encode` wrote. Raises ValidationError where it is none."""
    return _to_question.decode(text)
