"""What the exponentials behind an output are taken of: the tolerance of a softmax or an attention follows from it."""

from typing import Any, NamedTuple


class Exponents(NamedTuple):
    """Tensors of each row of an output: shaped like it, with one column, and `spread` with all. Computed from the inputs alone."""

    size: Any
    """Largest |argument| of an exponential in the row, natural base, with what its sum may have held on the way."""
    rest: Any
    """Logarithm of the sum of all probabilities but the highest: how little hangs on the others."""
    reach: Any
    """How far an output can get from the right one, whatever the probabilities."""
    spread: Any
    """How far what is averaged lies from its average: what an output moves by, over what each exponential is off by."""
    terms: int
    """Length of the sum that an argument is; 0 where it is an input."""


def log_rest(scores):
    """`rest` of rows of arguments: exact however small, as a difference to 1 is not."""
    import torch

    others = scores.scatter(1, scores.argmax(1, keepdim=True), -torch.inf)
    return torch.logsumexp(others, 1, keepdim=True) - torch.logsumexp(scores, 1, keepdim=True)
