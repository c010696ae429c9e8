"""Names of phases that more than one module must know."""

BASELINE = "baseline "
"""A phase of this beginning names the baseline that runs."""

IN_TURN = "all in turn"
"""The phase in which ours and the baselines are measured again; all have a result already."""
