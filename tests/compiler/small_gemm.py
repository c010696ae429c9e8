"""A small GEMM for the tests that really compile."""

from tileviz.compiler import targets
from tileviz.kernels import code


class Gemm:
    """A small GEMM program for a target: `Gemm("sm_90a")`."""

    def __init__(self, name: str, config: dict | None = None, problem: dict | None = None) -> None:
        described = code("gemm")
        self.target = targets.target(name)
        dtype = "float32" if name == "cpu" else "float16"
        self.problem = described.problem({"M": 256, "N": 256, "K": 256, "dtype": dtype, **(problem or {})}, self.target.kind)
        knobs = {"variant": "plain", "store": "direct", "block_M": 64, "block_N": 64, "block_K": 32, "num_stages": 2, "threads": 128}
        self.config = described.config({**knobs, **(config or {})}, self.target)
        self.build = lambda: described.build(self.problem, self.config, self.target)
