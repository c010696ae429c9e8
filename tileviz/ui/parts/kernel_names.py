"""Names of launched kernels as a person reads them: demangled, template arguments cut to what tells
kernels apart, and long ones shortened."""

import re

LONGEST = 60
MOST = 3
"""Launches of a chain that are named; the others are counted."""

PICKED = re.compile(r"^(?P<name>.*?) \((?P<words>[^()]*: the fastest of [^()]*)\)$")
"""`gemm (block_M=128 num_warps=8: the fastest of 10 right configs of 10)`: how a Triton program's config stands in its kernel name."""

NAMESPACES = ("at", "native", "std", "c10", "cutlass", "array")
NOISE = re.compile(r"_(?:generated|fort|native)(?=_)|_kernel\d+(?:_\d+)*$|_cga\w+?(?=_kernel|$)")
"""In the names of generated kernels: words that say nothing of what runs."""


def split_picked(kernel_name: str) -> tuple[str, str]:
    """(the kernel's name, the config that was picked for it with how it was picked, or "")."""
    found = PICKED.match(kernel_name)
    return (found["name"], found["words"]) if found else (kernel_name, "")


def readable(kernel_name: str) -> str:
    """`a + b` for a chain of launches, each short; at most MOST of them, and how many more."""
    names = [one(name) for name in kernel_name.split(" + ")]
    more = [f"{len(names) - MOST} more"] if len(names) > MOST else []
    return " + ".join([*names[:MOST], *more])


def one(name: str) -> str:
    """One kernel's name: `_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE...` is
    `at::native::vectorized_elementwise_kernel<CUDAFunctor_add>`."""
    words = _mangled(name) if name.startswith("_Z") else _written(name)
    base, about = words
    base = shortened(NOISE.sub("", base))
    return f"{base}<{about}>" if about else base


def shortened(name: str) -> str:
    """At most LONGEST characters: the middle stays, an outer namespace goes first, then the tail."""
    while len(name) > LONGEST and "::" in name:
        name = name.partition("::")[2]
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "\u2026"


def _mangled(name: str) -> tuple[str, str]:
    """(qualified name, first telling word of its template arguments or "") of a name in the Itanium ABI's spelling."""
    at, parts = (3, []) if name.startswith("_ZN") else (2, [])
    while (found := re.match(r"\d+", name[at:])) and len(parts) < 8:
        start = at + found.end()
        at = start + int(found[0])
        parts.append(name[start:at])
    parts = [part for part in parts if not part.startswith("_GLOBAL__N")]
    if not parts:
        return name, ""
    is_template = name[at : at + 1] == "I"
    return "::".join(parts), _telling(_identifiers(name[at:])) if is_template else ""


def _identifiers(rest: str) -> list[str]:
    """Words in the template arguments of a mangled name; literals (`Li4E`) and substitutions (`S0_`) are no words."""
    rest = re.sub(r"L[a-z]n?\d+E|[ST][0-9A-Z]*_", " ", rest)
    found, at = [], 0
    while match := re.search(r"\d+(?=[A-Za-z_])", rest[at:]):
        start, length = at + match.end(), int(match[0])
        found.append(rest[start : start + length])
        at = start + length
    return found


def _written(name: str) -> tuple[str, str]:
    """The same for a name that is written out: `void at::native::f<4, at::native::Functor<float>>(int, ...)`."""
    base, _, arguments = name.removeprefix("void ").partition("<")
    if not arguments:
        return base.partition("(")[0], ""
    return base, _telling(re.findall(r"[A-Za-z_]\w*", arguments))


def _telling(words: list[str]) -> str:
    plain = ("bool", "int", "unsigned", "float", "double", "long", "true", "false", "char", *NAMESPACES)
    return next((word[:30] for word in words if word not in plain and len(word) > 2), "")
