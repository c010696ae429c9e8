"""What the jobs share that lower the tile program of a request."""

from dataclasses import dataclass
from typing import Any

from tileviz.compiler import targets
from tileviz.engine.requests import Request
from tileviz.kernels import code as code_of
from tileviz.kernels.toolkit.base import Kernel
from tileviz.records import Target


@dataclass(frozen=True)
class LoweringJob:
    """A job over the program of one request, for a child: only there a kernel's code runs."""

    request: Request

    @property
    def kernel(self) -> Kernel:
        return code_of(self.request.kernel)

    @property
    def target(self) -> Target:
        return targets.target(self.request.target)

    @property
    def pass_configs(self) -> dict[str, Any]:
        """Settings of TileLang's passes."""
        return self.kernel.pass_configs(self.request.config)

    def build(self) -> Any:
        """TileLang's program for the request's problem, config and target."""
        return self.kernel.build(self.request.problem, self.request.config, self.target)
