"""Makes a machine without a GPU look like one H200 to a script: what says cuda lands on the CPU.

Nothing of it is undone: it runs in a child that ends with the script.
"""

import contextlib
import math
import types

from tileviz.kernels.opened.replacing import replace

NAME = "NVIDIA H200"
CAPABILITY = (9, 0)
ARCHITECTURE = "sm_90a"
SM_COUNT = 132
MEMORY_BYTES = 141 << 30

DRAWN = 1 << 20
"""Random values that are drawn for one tensor; a larger one repeats them."""

SILENT = (
    "synchronize",
    "empty_cache",
    "manual_seed",
    "manual_seed_all",
    "reset_peak_memory_stats",
    "ipc_collect",
    "_lazy_init",
    "init",
    "set_device",
    "reset_max_memory_allocated",
    "cudart",
)
"""Functions of torch.cuda that do nothing here."""

NOTHING_USED = (
    "memory_allocated",
    "max_memory_allocated",
    "memory_reserved",
    "max_memory_reserved",
)


def stand_in() -> None:
    """Answers torch.cuda's questions as one H200 would."""
    import torch
    import torch.utils._triton

    cuda = torch.cuda
    for name in SILENT:
        replace(cuda, name, _answer(None))
    for name in NOTHING_USED:
        replace(cuda, name, _answer(0))
    answers = {
        "is_available": True,
        "is_initialized": True,
        "device_count": 1,
        "current_device": 0,
        "is_bf16_supported": True,
        "get_device_capability": CAPABILITY,
        "get_device_name": NAME,
        "get_device_properties": _properties(),
        "mem_get_info": (MEMORY_BYTES, MEMORY_BYTES),
    }
    for name, value in answers.items():
        replace(cuda, name, _answer(value))
    replace(cuda, "Event", Event)
    replace(cuda, "Stream", Stream)
    replace(cuda, "stream", lambda stream: stream if stream is not None else Stream())
    for name in ("current_stream", "default_stream"):
        replace(cuda, name, lambda *args: Stream())
    replace(cuda, "device", lambda *args: contextlib.nullcontext())
    replace(torch.version, "cuda", "13.0")
    torch.utils._triton.has_triton_package()  # remembered, before Triton may be stood in for
    replace(torch, "compile", _not_compiled)
    replace(torch, "set_default_device", _answer(None))
    replace(torch, "Generator", _generator(torch.Generator))
    torch.set_num_threads(1)  # children are forked from here


@contextlib.contextmanager
def target():
    """TileLang's `auto` is Hopper here: without a GPU it would be a CPU."""
    from tilelang import tvm

    with tvm.target.Target({"kind": "cuda", "arch": ARCHITECTURE}):
        yield


def on_cpu(origins):
    """The mode under which a script runs: every device cuda is the CPU, tensors say that they are
    on cuda, and what is computed from a kernel's output is known by `origins` (checks.Origins)."""
    import torch
    from torch.overrides import TorchFunctionMode

    first_device = torch.device("cuda", 0)

    def is_cuda(device) -> bool:
        if isinstance(device, torch.device):
            return device.type == "cuda"
        return isinstance(device, str) and device.startswith("cuda")

    class OnCpu(TorchFunctionMode):
        def __torch_function__(self, func, types, args: tuple = (), kwargs=None):
            kwargs = dict(kwargs or {})
            name = getattr(func, "__name__", "")
            if func is torch.Tensor.cuda:
                return args[0]
            if name == "__get__":
                owner = getattr(func, "__self__", None)
                if owner is torch.Tensor.is_cuda:
                    return True
                if owner is torch.Tensor.device:
                    return first_device
            if name == "get_device":
                return 0
            device = kwargs.get("device")
            if is_cuda(device) or (isinstance(device, int) and not isinstance(device, bool)):
                kwargs["device"] = "cpu"
            if kwargs.get("pin_memory"):
                kwargs["pin_memory"] = False
            args = tuple("cpu" if is_cuda(arg) else arg for arg in args)
            if func in (torch.randn, torch.rand) and (shape := large_shape(args, kwargs)):
                return repeated(func, shape, kwargs)
            return origins.follow(func(*args, **kwargs), args)

    return OnCpu()


def large_shape(args: tuple, kwargs: dict) -> tuple[int, ...] | None:
    """The shape that a call of torch.randn asks for where it has more than DRAWN elements; None for
    any other call."""
    size = kwargs.get("size", args)
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else tuple(size)
    whole = all(isinstance(extent, int) for extent in shape) and "out" not in kwargs
    return shape if whole and math.prod(shape) > DRAWN else None


def repeated(draw, shape: tuple[int, ...], kwargs: dict):
    """A tensor of this shape in which DRAWN random values come again and again: a CPU would draw
    for minutes what a GPU draws at once."""
    options = {name: value for name, value in kwargs.items() if name not in ("size", "requires_grad")}
    values, count = draw(DRAWN, **options), math.prod(shape)
    tensor = values.repeat(-(-count // DRAWN))[:count].view(shape)
    return tensor.requires_grad_() if kwargs.get("requires_grad") else tensor


class Event:
    """A CUDA event: any two of them lie one millisecond apart."""

    def __init__(self, *args, **kwargs) -> None: ...

    def record(self, *args) -> None: ...

    def synchronize(self) -> None: ...

    def wait(self, *args) -> None: ...

    def query(self) -> bool:
        return True

    def elapsed_time(self, other) -> float:
        return 1.0


class Stream:
    """A CUDA stream on which everything has happened."""

    cuda_stream = 0

    def __init__(self, *args, **kwargs) -> None: ...

    def __enter__(self):
        return self

    def __exit__(self, *args) -> bool:
        return False

    def synchronize(self) -> None: ...

    def wait_stream(self, *args) -> None: ...

    def wait_event(self, *args) -> None: ...

    def record_event(self, *args) -> Event:
        return Event()


def _not_compiled(function=None, **options):
    """Stands for torch.compile, which would build C++ for minutes."""
    return function if function is not None else lambda later: later


def _answer(value):
    """A function of its own for each question: torch's compiler refuses one that has
    several names."""
    return lambda *args, **kwargs: value


def _properties() -> types.SimpleNamespace:
    """Source: the H200's own `cudaDeviceProp`."""
    return types.SimpleNamespace(
        name=NAME,
        major=CAPABILITY[0],
        minor=CAPABILITY[1],
        multi_processor_count=SM_COUNT,
        total_memory=MEMORY_BYTES,
        warp_size=32,
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=232448,
        shared_memory_per_multiprocessor=233472,
        L2_cache_size=50 << 20,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
        gcnArchName="",
        is_integrated=False,
    )


def _generator(real):
    """A stand-in for torch.Generator, a class, as annotations say `torch.Generator | None`."""

    class Meta(type):
        def __instancecheck__(cls, instance) -> bool:
            return isinstance(instance, real)

    class Generator(metaclass=Meta):
        def __new__(cls, device="cpu"):
            return real("cpu")

    return Generator
