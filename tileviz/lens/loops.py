"""Loops of SASS, found by their backward branches, with what stands in each body."""

import re
from collections import Counter
from dataclasses import dataclass

from tileviz.lens.classes import NAMES
from tileviz.lens.listing import Listing, listing

# .L_x_12:
_LABEL = re.compile(r"\s*(\.L_\w+):")
#         /*0a30*/              @!P0 BRA `(.L_x_12) ;
_ADDRESS = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+\S")
#         /*0a30*/              @!P0 BRA `(.L_x_12) ;           /*0a30*/  @P1 BRA 0x980 ;          /*0a30*/   BRA.U UP0, `(.L_x_3) ;
_BRANCH = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(@!?U?P\d\s+)?(?:BRA|JMP)([.\w]*)\s+([^`]*?)(?:`\((\.L_\w+)\)|0x([0-9a-f]+))")
#         /*0d20*/                   EXIT ;
_END = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:EXIT|RET|BRX|BPT)\b")
# SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR20], R4 ;     USETMAXREG.TRY_ALLOC.CTAPOOL UP0, 0xf0 ;
_WAIT = re.compile(r"\b(?:SYNCS\S*TRYWAIT|NANOSLEEP|USETMAXREG\S*TRY_ALLOC\S*)(?=\s)")

WAIT_LINES = 12
"""A loop of at most this many instructions around one that tries only waits for a barrier, or for registers."""


@dataclass(frozen=True)
class Loop:
    """A stretch of SASS that a backward branch repeats."""

    first: int
    """Line, counted from 1."""
    last: int
    depth: int
    """0 for an outermost loop."""
    instructions: int
    counts: dict[str, int]
    """How often each class stands in the body, inner loops included; classes that do not occur are left out."""
    opcodes: dict[str, int]
    """Tensor-core and copy opcodes with their counts."""


def loops(sass: str) -> tuple[Loop, ...]:
    """The loops of a text in order. Loops that only wait for a barrier, and the endless one behind each function, are left out."""
    return loops_of(listing(sass, "sass"))


def loops_of(read: Listing) -> tuple[Loop, ...]:
    """The loops of a SASS listing."""
    lines = [line.text for line in read.lines]
    found = {span: body for span, body in _natural_loops(lines).items() if not _only_waits([lines[at] for at in body])}
    spans = sorted(found, key=lambda span: (span[0], -span[1]))
    return tuple(_loop(read, span, found[span], sum(found[span] < found[other] for other in spans)) for span in spans)


def _natural_loops(lines: list[str]) -> dict[tuple[int, int], frozenset[int]]:
    """{(first, last) line from 0: every line of the body}.

    A backward branch closes a loop only where its target dominates it: the slow paths of waits, put behind the kernel, jump back, too.
    """
    blocks, successors = _blocks(lines)
    if not blocks:
        return {}
    dominators = _dominators(successors)
    before: list[list[int]] = [[] for _ in blocks]
    for block, nexts in enumerate(successors):
        for following in nexts:
            before[following].append(block)
    bodies: dict[int, tuple[int, set[int]]] = {}
    for tail, nexts in enumerate(successors):
        for head in nexts:
            if dominators[tail] >> head & 1:
                last, body = bodies.get(head, (0, set()))
                bodies[head] = (max(last, blocks[tail][1]), body | _reaching(tail, head, before))
    return {
        (blocks[head][0], last): frozenset(at for block in body for at in range(blocks[block][0], blocks[block][1] + 1))
        for head, (last, body) in bodies.items()
    }


def _blocks(lines: list[str]) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """((first, last) line of each basic block, the blocks that follow each)."""
    labels, addresses, branches = {}, {}, {}
    for at, text in enumerate(lines):
        if label := _LABEL.match(text):
            labels[label[1]] = at
        elif address := _ADDRESS.match(text):
            addresses.setdefault(int(address[1], 16), at)
    code = sorted([*labels.values(), *addresses.values()])
    for at in addresses.values():
        branch = _BRANCH.match(lines[at])
        if branch:
            target = labels.get(branch[4]) if branch[4] else addresses.get(int(branch[5], 16))
            branches[at] = (target, bool(branch[1] or branch[2] or branch[3].strip()))
        elif _END.match(lines[at]):
            branches[at] = (None, False)
    starts = (
        sorted({code[0], *labels.values(), *(t for t, _ in branches.values() if t is not None), *_after(code, branches)}) if code else []
    )
    blocks = [(first, following - 1) for first, following in zip(starts, [*starts[1:], code[-1] + 1], strict=True)] if code else []
    number = {first: block for block, (first, _) in enumerate(blocks)}
    successors = []
    for block, (first, last) in enumerate(blocks):
        end = next((at for at in range(last, first - 1, -1) if at in branches), None)
        target, falls = branches[end] if end is not None else (None, True)
        nexts = [number[target]] if target is not None else []
        successors.append(nexts + ([block + 1] if falls and block + 1 < len(blocks) else []))
    return blocks, successors


def _after(code: list[int], branches: dict) -> list[int]:
    return [following for at, following in zip(code, code[1:], strict=False) if at in branches]


def _dominators(successors: list[list[int]]) -> list[int]:
    """For each block the set of its dominators, as bits. A block that nothing leads to is an entry of its own."""
    count = len(successors)
    before: list[list[int]] = [[] for _ in range(count)]
    for block, nexts in enumerate(successors):
        for following in nexts:
            before[following].append(block)
    everything = (1 << count) - 1
    found = [everything if before[block] and block else 1 << block for block in range(count)]
    changed = True
    while changed:
        changed = False
        for block in range(1, count):
            common = everything if before[block] else 0
            for previous in before[block]:
                common &= found[previous]
            common |= 1 << block
            if common != found[block]:
                found[block], changed = common, True
    return found


def _reaching(tail: int, head: int, before: list[list[int]]) -> set[int]:
    body, queue = {head}, [tail]
    while queue:
        block = queue.pop()
        if block not in body:
            body.add(block)
            queue += before[block]
    return body


def _only_waits(body: list[str]) -> bool:
    code = [text for text in body if _ADDRESS.match(text)]
    return len(code) <= 1 or (len(code) <= WAIT_LINES and any(_WAIT.search(text) for text in code))


def _loop(read: Listing, span: tuple[int, int], lines: frozenset[int], depth: int) -> Loop:
    body = [read.lines[at] for at in sorted(lines)]
    classes = Counter(hit.cls for line in body for hit in line.hits)
    shown = Counter(
        line.text[hit.start : hit.end]
        for line in body
        for hit in line.hits
        if hit.cls in ("tensor_core", "async_copy", "matrix_load_store")
    )
    size = sum(bool(_ADDRESS.match(line.text)) for line in body)
    return Loop(span[0] + 1, span[1] + 1, depth, size, {n: classes[n] for n in NAMES if classes[n]}, dict(shown.most_common()))
