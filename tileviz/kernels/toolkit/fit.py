"""Fits a config to a target as an engineer would: fewer pipeline stages until no rule is broken."""

from tileviz.errors import Pruned
from tileviz.kernels.asked import AskedKernel
from tileviz.records import Config, Problem, Target


def fit(kernel: AskedKernel, problem: Problem, config: Config, target: Target) -> Config:
    """The config with the most stages, at most as many as it has, that breaks no rule; unchanged when it breaks none.

    Raises Pruned with the rule that fewer stages cannot mend.
    """
    stages = range(config.get("num_stages", 0), -1, -1)
    fewer = [{**config, "num_stages": number} for number in stages] if "num_stages" in config else [config]
    broken = kernel.broken(problem, fewer, target)
    for fitted, rules in zip(fewer, broken, strict=True):
        if not rules:
            return fitted
    raise Pruned(broken[-1][0])
