"""The tensors that a program is launched with: inputs, outputs, and inputs that it writes over, which get their values back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import draws
from .references import Truth
from .timers import Prepared, Run

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class Arguments:
    """What one problem's program is launched with, again and again, at the same addresses."""

    inputs: tuple
    """Tensors and scalars, in the order of the declaration."""
    outputs: dict[str, "torch.Tensor"]
    """Every tensor that is written, by name: outputs, then the inputs that are written over."""
    in_order: tuple
    """In the order of the program's parameters."""
    kept: dict[str, "torch.Tensor"]
    """The values that inputs have before a launch writes over them, by name."""

    @classmethod
    def of(cls, kernel, problem: dict, inputs: tuple, device: str) -> "Arguments":
        """Of a `kernels.toolkit.base.Kernel`; the outputs hold nothing in particular before `clear`."""
        signature = kernel.signature(problem)
        made = {tensor.name: draws.blank(tensor.shape, tensor.dtype, device) for tensor in signature.outputs}
        given = {tensor.name: value for tensor, value in zip(signature.inputs, inputs, strict=True)}
        written = {name: given[name] for name in signature.in_place}
        everything = {**given, **made}
        in_order = tuple(everything[name] for name in signature.in_order)
        return cls(inputs, {**made, **written}, in_order, {name: tensor.clone() for name, tensor in written.items()})

    @property
    def separate(self) -> dict[str, "torch.Tensor"]:
        """The outputs that are no inputs."""
        return {name: tensor for name, tensor in self.outputs.items() if name not in self.kept}

    @property
    def fresh_inputs(self) -> tuple:
        """The inputs with the values that they have before a launch."""
        kept = {id(self.outputs[name]): tensor for name, tensor in self.kept.items()}
        return tuple(kept.get(id(value), value) for value in self.inputs)

    def restore(self) -> None:
        """Gives the inputs that were written over their values back."""
        for name, tensor in self.kept.items():
            self.outputs[name].copy_(tensor)

    def clear(self, truth: Truth) -> None:
        """Before a launch that is checked: no output holds what was computed before, and each element that is never written shows."""
        for name, output in self.separate.items():
            draws.refill(output, truth.references[name])
        self.restore()

    def exchange(self, others: tuple) -> None:
        """The inputs get the values of others, which get theirs, in place."""
        self.restore()
        draws.exchange(self.inputs, others)
        for name, tensor in self.kept.items():
            tensor.copy_(self.outputs[name])

    def launch_of(self, call: Callable[..., Any]) -> Run:
        """One launch with these tensors, for timing."""
        return self.restoring(lambda: call(*self.in_order))

    def restoring(self, run: Run) -> Run:
        """`run`, and what a timer does before each call of it, outside the timed window: inputs that are written over are restored."""
        return Prepared(run, self.restore) if self.kept else run
