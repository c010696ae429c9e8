"""What errors of the arguments of exponentials may move in an output: the part of a tolerance that grows with the size of logits.

Let a row have probabilities p, and each exponential a factor exp(d) too much, |d| <= e. Over their sum each probability is then off by a
factor w within exp(+-2 e), and sum(p w) = 1, so an average o of values v moves by sum(p (w - 1) (v - o)): no more than exp(2 e) - 1 times
the mean distance sum(p |v - o|), for which a kernel gives its `spread`. Where 2 e is large, that distance is told by how little all but
the likeliest weigh, in logarithms, and the average stays among the values.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .tolerance import Bound, as_matrix

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Sway:
    """`kernels.toolkit.exponents.Exponents` as matrices of an output's rows; what is not finite belongs to rows that are not judged by
    numbers."""

    size: "torch.Tensor"
    rest: "torch.Tensor"
    reach: "torch.Tensor"
    spread: "torch.Tensor"

    @classmethod
    def of(cls, exponents) -> "Sway":
        return cls(*(as_matrix(tensor) for tensor in exponents[:4]))

    def of_rows(self, first: int, last: int, bound: Bound) -> "torch.Tensor":
        """What each element of these rows may move by, in float64."""
        import torch

        size, reach, spread = (_finite(t[first:last]).double() for t in (self.size, self.reach, self.spread))
        rest = self.rest[first:last].double().nan_to_num(0.0, neginf=-math.inf)
        twice = 2 * bound.of_exponent * size
        far = reach * (2 * (twice + rest).clamp(max=0).exp()).clamp(max=1)
        near = torch.expm1(twice.clamp(max=1)) * spread
        return torch.where(twice <= 1, torch.minimum(near, far), far)

    def words(self, bound: Bound) -> str:
        largest = _finite(self.size).max().item()
        return f" + what exponents that are {bound.of_exponent:.2g} of their size off can move (here up to {largest:.3g})"


def _finite(tensor):
    return tensor.nan_to_num(0.0, 0.0, 0.0)
