"""Replaces TileLang's entry points: a kernel that a script asks for is told instead of compiled,
and gives blank outputs."""

import inspect
import os
import sys
import types
from dataclasses import dataclass, field
from typing import Any

from tileviz.kernels.opened import checks, tir, values
from tileviz.kernels.opened.calls import RecordedKernel
from tileviz.kernels.opened.events import Events
from tileviz.kernels.opened.replacing import replace
from tileviz.kernels.opened.texts import Factory

MOST_KERNELS = 200
"""Programs of one script that are told; what a loop asks for beyond them still gets its blank
outputs."""

DOMAIN = 64
"""Values of one knob that are kept of an autotune list."""


@dataclass
class Call:
    """A factory with the arguments it is being compiled for."""

    impl: Any
    args: tuple
    kwargs: dict
    tune: dict | None = None


@dataclass
class Recorder:
    """Tells each kernel once. `hold(id, program, call)` is called for the first program of each
    factory."""

    file: str
    events: Events
    factories: list[Factory] = field(default_factory=list)
    """Of the file's text: they tell where a bare T.prim_func was made."""
    hold: Any = None
    origins: checks.Origins = field(default_factory=checks.Origins)
    kernels: dict[str, dict] = field(default_factory=dict)
    current: list[Call] = field(default_factory=list)
    tuning: list[dict] = field(default_factory=list)
    _seen: dict[tuple, str] = field(default_factory=dict)
    _held: set[tuple] = field(default_factory=set)

    def compile(
        self,
        func=None,
        out_idx=None,
        execution_backend=None,
        target=None,
        target_host=None,
        verbose=None,
        **more,
    ):
        """Stands for `tilelang.compile`."""
        call = self.current[-1] if self.current else None
        return RecordedKernel(self, self.kernel(func, out_idx, target, more, call), func)

    def par_compile(self, funcs, **kwargs):
        kwargs = {name: value for name, value in kwargs.items() if name not in ("num_workers", "ignore_error")}
        return [self.compile(func, **kwargs) for func in funcs]

    def kernel(self, function, out_idx, target, more: dict, call: Call | None) -> dict:
        """What is told of a program: told now unless the very same was told before."""
        entry = described(function, out_idx, more)
        entry |= self._factory(call, function) if call else self._bare(function)
        entry["target"] = None if target is None else str(target)
        key = (entry["title"], entry["file"], entry["line"], entry["tir"], call is None)
        if key in self._seen:
            return self.kernels[self._seen[key]]
        if len(self.kernels) >= MOST_KERNELS:
            return {**entry, "id": ""}
        entry["id"] = f"{self.events.name}{len(self.kernels)}"
        self._seen[key] = entry["id"]
        self.kernels[entry["id"]] = entry
        self.events.tell("kernel", **entry)
        factory = (*key[:3], call is None)
        if self.hold and factory not in self._held:
            self._held.add(factory)
            self.hold(entry, function, call, pass_configs_of(function, more))
        return entry

    def check(self, kernel: str, **values) -> None:
        self.events.tell("check", id=kernel, line=self.line(), **values)

    def line(self) -> int | None:
        """The innermost line of the script that is at work."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.file:
                return frame.f_lineno
            frame = frame.f_back
        return None

    def _factory(self, call: Call, program) -> dict:
        function = origin(call.impl)
        code = function.__code__
        arguments = {**constants(call.impl, program), **bound(call)}
        return {
            "title": function.__qualname__,
            "file": os.path.abspath(code.co_filename),
            "line": code.co_firstlineno,
            "form": call.impl.mode if call.impl.mode in ("eager", "bare") else "lazy",
            "arguments": {name: values.stored(value) for name, value in arguments.items() if not is_tensor(value)},
            "autotune": call.tune,
        }

    def _bare(self, function) -> dict:
        title = str(function.attrs["global_symbol"]) if function.attrs and "global_symbol" in function.attrs else "kernel"
        file, line = tir.place(function) or (self.file, self.line() or 0)
        around = [factory for factory in self.factories if file == self.file and factory.line <= line <= factory.end]
        if around:
            title, line = around[-1].title, around[-1].line
        return {
            "title": title,
            "file": file,
            "line": line,
            "form": "bare",
            "arguments": {},
            "autotune": self.tuning[-1] if self.tuning else None,
        }


def described(function, out_idx, more: dict) -> dict:
    """What a program itself says: its arguments with their roles, and what TileLang is to do with
    it."""
    attrs = dict(function.attrs) if function.attrs else {}
    if "tilelang_out_idx" in attrs:
        out_idx = [int(index) for index in attrs["tilelang_out_idx"]]
    indices = [] if out_idx is None else [int(out_idx)] if isinstance(out_idx, int) else [int(index) for index in out_idx]
    arguments = tir.arguments(function)
    allocated = sorted({index % len(arguments) for index in indices}) if arguments else []
    roles = zip(arguments, tir.roles(function, allocated), strict=True)
    flags = more.get("compile_flags") or []
    flags = [flags] if isinstance(flags, str) else list(flags)
    return {
        "tensors": [{**argument, "role": role, "integer": tir.is_integer(argument["dtype"])} for argument, role in roles],
        "out_idx": allocated,
        "pass_configs": {str(getattr(name, "value", name)): str(value) for name, value in pass_configs_of(function, more).items()},
        "compile_flags": [*map(str, attrs.get("tilelang_compile_flags", ())), *map(str, flags)],
        "tir": tir.text_hash(function),
    }


def pass_configs_of(function, more: dict) -> dict:
    """Those that the program was annotated with, and those handed over, which win."""
    attrs = dict(function.attrs) if function.attrs else {}
    return {**dict(attrs.get("tilelang_pass_configs", {})), **(more.get("pass_configs") or {})}


def origin(impl):
    """The user's own function of a factory."""
    function = getattr(impl, "func", impl)
    return inspect.unwrap(getattr(function, "orig_func", function))


def bound(call: Call) -> dict[str, Any]:
    """Every argument of the factory by name: given, or by default; eager kernels' `T.const` names,
    too."""
    signature = call.impl.signature
    known = {name: value for name, value in call.kwargs.items() if name in signature.parameters}
    found = signature.bind_partial(*call.args, **known)
    found.apply_defaults()
    loose = {name: value for name, value in call.kwargs.items() if name not in known and not name.startswith("__")}
    return {**found.arguments, **loose}


def constants(impl, program) -> dict[str, int]:
    """The `T.const` sizes of an eager factory, read off the arguments of the program
    that it made."""
    buffers = {str(parameter.name): buffer for parameter, buffer in program.buffer_map.items()}
    found = {}
    for template in getattr(impl.func, "p1_cache", {}).values():
        for parameter, what, dimension, name in (template.matcher or {}).values():
            buffer = buffers.get(str(parameter))
            extents = () if buffer is None else buffer.shape if what == "shape" else buffer.strides
            if dimension < len(extents) and isinstance(extent := tir.size(extents[dimension]), int):
                found[str(name)] = extent
    return found


class Plain:
    """A plain function that returns a T.prim_func, asked as a factory is."""

    mode = "bare"

    def __init__(self, function) -> None:
        self.func = function
        self.signature = inspect.signature(function)

    def get_tir(self, *args, **kwargs):
        return self.func(*args, **kwargs)


def is_tensor(value) -> bool:
    return isinstance(value, sys.modules["torch"].Tensor)


def install(recorder: Recorder) -> None:
    """Puts the recorder in TileLang's place."""
    import tilelang
    from tilelang.autotuner import tuner

    jit = sys.modules["tilelang.jit"]  # the attribute of this name is the function
    for module in (jit, tilelang):
        replace(module, "compile", recorder.compile)
        replace(module, "par_compile", recorder.par_compile)
    compiled = jit.JITImpl.compile

    def compile_factory(impl, *args, **kwargs):
        recorder.current.append(Call(impl, args, kwargs, recorder.tuning.pop() if recorder.tuning else None))
        try:
            return compiled(impl, *args, **kwargs)
        finally:
            recorder.current.pop()

    def call_tuned(tuned, *args, **kwargs):
        return _tuned(recorder, tuned, args, kwargs)

    def run_tuner(tuned, *args, **kwargs):
        return _run_tuner(recorder, tuned)

    replace(jit.JITImpl, "compile", compile_factory)
    replace(tuner.AutoTuneImpl, "__call__", call_tuned)
    replace(tuner.AutoTuner, "run", run_tuner)
    _still_clocks()
    checks.install(recorder.origins, recorder.check)


def tune_of(configs: list[dict], reference=None, tolerance: tuple = (None, None)) -> dict:
    """What is kept of an autotune list: its length and the values of each knob."""
    domains: dict[str, list] = {}
    for config in configs:
        for name, value in config.items():
            kept = domains.setdefault(name, [])
            if name != "pass_configs" and (word := values.stored(value)) not in kept and len(kept) < DOMAIN:
                kept.append(word)
    domains.pop("pass_configs", None)
    told = {"configs": len(configs), "domains": domains}
    if reference is not None:
        told["reference"] = {
            "name": values.name_of(reference),
            "rtol": tolerance[0],
            "atol": tolerance[1],
        }
    return told


def _tuned(recorder: Recorder, tuned, args: tuple, kwargs: dict):
    """Stands for the call of an @autotune factory: its first config is taken."""
    wants_kernel = kwargs.pop("__return_kernel", False)
    impl = tuned.jit_impl
    configs = list(tuned.configs(*args, **kwargs) if callable(tuned.configs) else tuned.configs)
    known = {name: value for name, value in kwargs.items() if name in impl.signature.parameters}
    given = impl.signature.bind_partial(*args, **known).arguments
    picked = {name: value for name, value in configs[0].items() if name not in given and name != "pass_configs"}
    recorder.tuning.append(
        tune_of(
            configs,
            getattr(tuned, "ref_prog", None),
            (getattr(tuned, "rtol", None), getattr(tuned, "atol", None)),
        )
    )
    mode = impl.initialize_jit_mode(*args, **kwargs, **picked)
    kernel = impl.compile(*args, **kwargs, **picked)
    kernel.config = picked
    if mode == "lazy" or wants_kernel:
        return kernel
    _, tensors = impl.func.parse_args(*args, **kwargs, **picked)
    return kernel(*tensors.values())


def _run_tuner(recorder: Recorder, tuned):
    """Stands for `AutoTuner.from_kernel(...).run()`."""
    parameters = tuned._kernel_parameters
    configs = list(tuned.configs(*parameters[0], **dict(parameters[1])) if callable(tuned.configs) else tuned.configs)
    config = {name: value for name, value in configs[0].items() if name != "pass_configs"}
    compile_args, profile_args = tuned.compile_args, getattr(tuned, "profile_args", None)
    tolerance = (getattr(profile_args, "rtol", None), getattr(profile_args, "atol", None))
    recorder.tuning.append(tune_of(configs, getattr(profile_args, "ref_prog", None), tolerance))
    try:
        made = tuned.fn(**config)
        if not isinstance(made, RecordedKernel):
            options = {name: getattr(compile_args, name, None) for name in ("out_idx", "target", "pass_configs")}
            made = recorder.compile(made, **options)
    finally:
        recorder.tuning.clear()
    made.config = config
    return types.SimpleNamespace(latency=1.0, config=config, ref_latency=1.0, kernel=made, func=made, libcode="")


def _still_clocks() -> None:
    """Nothing is timed: a benchmark calls its function once; questions to the driver get the
    answers of one H200."""
    import tilelang.carver.arch.driver as driver
    import tilelang.carver.arch.driver.cuda_driver as cuda_driver
    import tilelang.profiler
    import tilelang.profiler.bench

    from tileviz.kernels.opened import gpu

    def do_bench(function, *args, **kwargs) -> float:
        function()
        return 1.0

    for module in (tilelang.profiler, tilelang.profiler.bench):
        replace(module, "do_bench", do_bench)
    for module in (driver, cuda_driver):
        replace(module, "get_num_sms", lambda *args: gpu.SM_COUNT)
