"""Fits a config to a target as an engineer would: fewer pipeline stages until no rule is broken."""

from tileviz.errors import Pruned
from tileviz.kernels.toolkit.base import Kernel
from tileviz.records import Config, Problem, Target


def fit(kernel: Kernel, problem: Problem, config: Config, target: Target) -> Config:
    """The config with the most stages, at most as many as it has, that breaks no rule; unchanged when it breaks none.

    Raises Pruned with the rule that fewer stages cannot mend.
    """
    stages = config.get("num_stages", 0)
    broken = ()
    for fewer in range(stages, -1, -1):
        fitted = {**config, "num_stages": fewer} if "num_stages" in config else config
        broken = kernel.rules(problem, fitted, target).broken
        if not broken:
            return fitted
    raise Pruned(broken[0])
