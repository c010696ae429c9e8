"""The causal mask in words and numbers: aligned bottom-right, where PyTorch's own is aligned top-left."""


def pairs(Sq: int, Sk: int) -> int:
    """Pairs of a query and a key that it sees, of one head: row i sees keys j <= i + Sk - Sq."""
    first = max(0, Sq - Sk)
    rows = Sq - first
    fewest = max(0, Sk - Sq) + 1
    return rows * fewest + rows * (rows - 1) // 2


def conventions(problem) -> tuple[str, ...]:
    """How the mask is aligned, and what PyTorch's `is_causal` does where that is something else; nothing without a mask."""
    if not problem["causal"]:
        return ()
    Sq, Sk = problem["Sq"], problem["Sk"]
    ours = "Causal mask aligned bottom-right: row i sees keys j <= i + Sk - Sq"
    if Sq == Sk:
        return (f"{ours}. With Sq = Sk that is the mask of PyTorch's is_causal, too.",)
    theirs = "PyTorch's is_causal aligns top-left (j <= i), so it was not used here"
    if Sq > Sk:
        return (f"{ours}; the first {Sq - Sk:,} rows see no key and give 0. {theirs}; its bottom-right mask gives NaN in those rows.",)
    return (f"{ours}. {theirs}: PyTorch's baselines get a bottom-right mask.",)
