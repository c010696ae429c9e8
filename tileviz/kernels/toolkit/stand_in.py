"""`T` in a kernel file: TileLang's language, imported on first use, or given other meanings for the CPU target.

A kernel file is read by the web process, which never imports TileLang. So its `T` is `LazyLanguage`. For the CPU target the
same program is copied with `T` bound to `CpuLanguage`: tiles become local arrays, parallel loops plain loops, and hints that only a
GPU understands do nothing. Both work for a file that says `import tilelang.language as T`, too.
"""

import importlib
import types

CPU_NO_OPS = (
    "use_swizzle", "annotate_l2_hit_ratio", "annotate_producer_reg_dealloc", "annotate_consumer_reg_alloc",
    "disable_warp_group_reg_alloc", "annotate_min_blocks_per_sm", "set_max_nreg", "inc_max_nreg", "dec_max_nreg", "no_set_max_nreg",
    "annotate_layout",
)  # fmt: skip


class LazyLanguage:
    """Stands in for `tilelang.language`; every name is looked up there when it is first used."""

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(importlib.import_module("tilelang.language"), name)


class CpuLanguage(LazyLanguage):
    """`tilelang.language` as the CPU target needs it."""

    def __getattr__(self, name: str):
        if name in CPU_NO_OPS:
            return _no_op
        if name in ("alloc_shared", "alloc_fragment"):
            return _alloc_local
        return super().__getattr__(name)

    @staticmethod
    def fast_rcp(x):
        return 1 / x

    @staticmethod
    def Parallel(*extents, **_hints):
        return importlib.import_module("tilelang.language").grid(*extents)


def for_cpu(program):
    """A copy of `program`, and of the functions of its file that it calls, whose `T` is `CpuLanguage`."""
    names = dict(program.__globals__)
    names["T"] = CpuLanguage()
    for name, value in program.__globals__.items():
        if isinstance(value, types.FunctionType) and value.__globals__ is program.__globals__:
            names[name] = _with_names(value, names)
    return _with_names(program, names)


def _with_names(function, names):
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__module__ = function.__module__
    copy.__qualname__ = function.__qualname__
    return copy


def _no_op(*_args, **_kwargs):
    return None


def _alloc_local(shape, dtype, *_scope, **_hints):
    return importlib.import_module("tilelang.language").alloc_local(shape, dtype)
