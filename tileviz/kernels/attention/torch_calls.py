"""What a user would call in PyTorch instead of our attention: scaled_dot_product_attention, by backend.

Each function takes a completed problem and returns a plain callable over the kernel's inputs. The backend is forced inside the call
only and put back after it. torch is imported inside functions.
"""

from collections.abc import Callable

from tileviz.kernels.toolkit.base import Baseline
from tileviz.kernels.toolkit.rules import torch_math_mode

UNLIKE_MASK = "its causal mask is aligned top-left; not comparable for Sq != Sk"
NO_KEY = "rows without a key are NaN in PyTorch and 0 here; not comparable for causal Sq > Sk"


def sdpa(problem) -> Callable:
    """scaled_dot_product_attention with the backend that PyTorch picks; causal masks are aligned bottom-right."""
    import torch.nn.functional as F
    from torch.nn.attention.bias import causal_lower_right

    Sq, Sk, causal, scale = problem["Sq"], problem["Sk"], problem["causal"], problem["scale"]
    if causal and Sq != Sk:
        return lambda Q, K, V: F.scaled_dot_product_attention(Q, K, V, attn_mask=causal_lower_right(Sq, Sk), scale=scale)
    return lambda Q, K, V: F.scaled_dot_product_attention(Q, K, V, is_causal=causal, scale=scale)


def sdpa_compiled(problem) -> Callable:
    """The same for torch.compile, which does not take the bias object: a mask of truth values in its place."""
    import torch
    import torch.nn.functional as F

    Sq, Sk, scale = problem["Sq"], problem["Sk"], problem["scale"]
    if not problem["causal"] or Sq == Sk:
        return sdpa(problem)

    def call(Q, K, V):
        mask = torch.ones(Sq, Sk, dtype=torch.bool, device=Q.device).tril(Sk - Sq)
        return F.scaled_dot_product_attention(Q, K, V, attn_mask=mask, scale=scale)

    return call


def sdpa_by(backend: str) -> Callable:
    """`sdpa` with one backend forced, by its name in torch.nn.attention.SDPBackend."""

    def made(problem):
        from torch.nn.attention import SDPBackend, sdpa_kernel

        call = sdpa(problem)

        def forced(Q, K, V):
            with sdpa_kernel([getattr(SDPBackend, backend)]):
                return call(Q, K, V)

        return forced

    return made


def unlike_mask(problem) -> str | None:
    """Why a causal mask of PyTorch would compute something else than ours."""
    return NO_KEY if problem["causal"] and problem["Sq"] > problem["Sk"] else None


def unlike_top_left(problem) -> str | None:
    """The same for a backend that does not take the bottom-right bias."""
    if unlike_mask(problem) is None and problem["causal"] and problem["Sq"] != problem["Sk"]:
        return UNLIKE_MASK
    return unlike_mask(problem)


def half_only(problem) -> str | None:
    return "takes float16 and bfloat16 only, not float32" if problem["dtype"] == "float32" else None


def first_reason(*asked: Callable) -> Callable:
    """The first reason that any of these gives for a problem."""
    return lambda problem: next((reason for reason in (ask(problem) for ask in asked) if reason), None)


def sdpa_baselines() -> tuple[Baseline, ...]:
    """PyTorch's attention: the backend it picks, compiled, and each backend by name."""

    def one(name: str, title: str, backend: str, *limits: Callable) -> Baseline:
        return Baseline(name, title, sdpa_by(backend), kind="cuda", unavailable=first_reason(*limits), math_mode=torch_math_mode)

    return (
        Baseline("eager", "PyTorch SDPA (auto)", sdpa, unavailable=unlike_mask, math_mode=torch_math_mode),
        Baseline("torch_compile", "torch.compile", sdpa_compiled, unavailable=unlike_mask, math_mode=torch_math_mode, compiles=True),
        one("sdpa_flash", "SDPA flash", "FLASH_ATTENTION", unlike_mask, half_only),
        one("sdpa_cudnn", "SDPA cuDNN", "CUDNN_ATTENTION", unlike_top_left, half_only),
        one("sdpa_efficient", "SDPA memory-efficient", "EFFICIENT_ATTENTION", unlike_mask),
        one("sdpa_math", "SDPA math", "MATH", unlike_mask),
    )
