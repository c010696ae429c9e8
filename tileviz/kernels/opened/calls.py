"""A kernel that was recorded instead of compiled: called, it notes its tensors and gives blank
outputs of the right shapes."""

import re

from tileviz.kernels.opened import values

BLANK = 128
"""Elements along a dimension that is known at run time only, where no tensor tells it."""

TORCH_DTYPES = {
    "bool": "bool",
    "float8_e4m3": "float8_e4m3fn",
    "e4m3_float8": "float8_e4m3fn",
    "e5m2_float8": "float8_e5m2",
}
"""TileLang's dtypes that torch calls by another name."""

MOST_READ = 50_000_000
"""Elements of an integer tensor up to which its least and most value are looked for."""


class RecordedKernel:
    """Stands for a JITKernel."""

    latency = 1.0
    ref_latency = 1.0
    libpath = ""

    def __init__(self, recorder, entry: dict, function) -> None:
        from tilelang.engine.param import KernelParam

        self.recorder, self.entry, self.prim_func = recorder, entry, function
        buffers = function.buffer_map
        self.params = [KernelParam.from_buffer(buffers[p]) if p in buffers else KernelParam.from_var(p) for p in function.params]
        self.artifact = self.adapter = self.torch_function = self.kernel = self.func = self
        self.config: dict = {}
        self.out_idx = entry["out_idx"]
        self._called = False

    def __call__(self, *args, **kwargs):
        tensors = self.entry["tensors"]
        inputs = [tensor for index, tensor in enumerate(tensors) if index not in self.out_idx]
        handed = tensors if len(args) == len(tensors) else inputs
        self._tell(handed, args)
        if handed is tensors or not self.out_idx:
            for tensor, value in zip(handed, args, strict=False):
                if tensor["role"] != "in" and hasattr(value, "untyped_storage"):
                    self.recorder.origins.own(value, self.entry["id"])
            return None
        sizes = sizes_of(handed, args)
        outputs = [self._blank(tensors[index], sizes) for index in self.out_idx]
        for output in outputs:
            self.recorder.origins.own(output, self.entry["id"])
        return outputs[0] if len(outputs) == 1 else outputs

    def get_profiler(self, *args, **kwargs) -> "RecordedProfiler":
        return RecordedProfiler(self)

    def get_kernel_source(self, *args, **kwargs) -> str:
        return "// recorded, not compiled"

    get_host_source = get_kernel_source

    def inputs(self) -> list:
        """Blank inputs, as the profiler would supply random ones."""
        tensors = self.entry["tensors"]
        return [self._blank(tensor, {}) for i, tensor in enumerate(tensors) if i not in self.out_idx and tensor["shape"] is not None]

    def tell_profiled(self, reference=None, rtol=None, atol=None) -> None:
        """Notes that the profiler runs the kernel, against a callable where one was handed over."""
        self._tell_once("profiler", [])
        if reference is not None:
            self.recorder.check(
                self.entry["id"],
                how="profiler",
                name=values.name_of(reference),
                rtol=rtol,
                atol=atol,
            )

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None

    def _tell(self, tensors: list[dict], args: tuple) -> None:
        if not self._called:
            self._tell_once(
                "tensors",
                [{"name": t["name"], **seen(value)} for t, value in zip(tensors, args, strict=False)],
            )

    def _tell_once(self, how: str, tensors: list[dict]) -> None:
        if not self._called:
            self._called = True
            self.recorder.events.tell("call", id=self.entry["id"], how=how, tensors=tensors, line=self.recorder.line())

    def _blank(self, tensor: dict, sizes: dict[str, int]):
        import torch

        shape = [extent_of(extent, sizes) for extent in tensor["shape"]]
        return torch.zeros(shape, dtype=torch_dtype(tensor["dtype"]), device="cpu")


class RecordedProfiler:
    """Stands for TileLang's Profiler: checks pass, clocks stand still."""

    def __init__(self, kernel: RecordedKernel) -> None:
        self._kernel = self.func = kernel

    def assert_allclose(
        self,
        reference_program=None,
        input_tensors=None,
        atol=1e-2,
        rtol=1e-2,
        max_mismatched_ratio=0.01,
    ) -> None:
        self._kernel.tell_profiled(reference_program, rtol, atol)

    def manual_assert_close(self, reference_program=None, *args, **kwargs) -> None:
        self._kernel.tell_profiled(reference_program)

    def do_bench(self, func=None, *args, **kwargs) -> float:
        self._kernel.tell_profiled(None if isinstance(func, RecordedKernel) else func)
        return 1.0

    def _get_inputs(self, *args, **kwargs) -> list:
        return self._kernel.inputs()

    def __call__(self, *args):
        return self._kernel(*args)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self._kernel.tell_profiled()


def seen(value) -> dict:
    """Shape, dtype, strides and, of whole numbers, the range of a tensor that was handed over; the
    value of a number."""
    import torch

    if not isinstance(value, torch.Tensor):
        return {"value": value if isinstance(value, (int, float, bool)) else None}
    with torch._C.DisableTorchFunction():
        found = {
            "shape": list(value.shape),
            "dtype": str(value.dtype).removeprefix("torch."),
            "strides": list(value.stride()),
        }
        if _may_be_ranged(value):
            found |= {"least": int(value.min()), "most": int(value.max())}
    return found


def _may_be_ranged(tensor) -> bool:
    import torch

    wide = (torch.uint16, torch.uint32, torch.uint64)
    whole = not tensor.dtype.is_floating_point and not tensor.dtype.is_complex and tensor.dtype not in (torch.bool, *wide)
    return whole and not tensor.is_meta and 0 < tensor.numel() <= MOST_READ


def torch_dtype(name: str):
    """Torch's dtype that holds TileLang's; packed ones lie in bytes."""
    import torch

    name = TORCH_DTYPES.get(name, name).partition("x")[0]
    if name in ("int4", "uint4"):
        return torch.int8
    if name.startswith("float4"):
        return torch.uint8
    return getattr(torch, name, torch.float32)


def sizes_of(tensors: list[dict], args: tuple) -> dict[str, int]:
    """Sizes known at run time only, as the tensors handed over tell them."""
    sizes: dict[str, int] = {}
    for tensor, value in zip(tensors, args, strict=False):
        if tensor["shape"] is None and isinstance(value, int):
            sizes[tensor["name"]] = value
        elif tensor["shape"] is not None and hasattr(value, "shape"):
            sizes |= {name: int(n) for name, n in zip(tensor["shape"], value.shape, strict=False) if isinstance(name, str)}
    return sizes


# n    T.ceildiv(n, 128)    n * 2    T.int64(n) // 16
_EXTENT = re.compile(r"[\w\s.,()+*/%-]+")


def extent_of(extent: int | str, sizes: dict[str, int]) -> int:
    """The number of elements that an extent stands for; BLANK where it cannot be told."""
    if isinstance(extent, int):
        return extent
    if extent in sizes:
        return sizes[extent]
    words = {
        "ceildiv": lambda a, b: -(-a // b),
        "min": min,
        "max": max,
        "int32": int,
        "int64": int,
        "truncdiv": lambda a, b: a // b,
        "floordiv": lambda a, b: a // b,
    }
    text = extent.replace("T.", "")
    if not _EXTENT.fullmatch(text):
        return BLANK
    try:
        return int(eval(text, {"__builtins__": {}}, {**words, **sizes}))
    except (ArithmeticError, NameError, SyntaxError, TypeError, ValueError):
        return BLANK
