"""Opens every kernel file under a TileLang checkout's examples/ and says how many open with no word
of a user, and why the others do not.

    python -m benchmarks.open_examples CHECKOUT [--targets sm_90a,sm_100a,sm_80]
        [--out opened.jsonl] [--abreast 2] [--timeout 40] [--only WORDS]

A file is open where at least one kernel was found, all the arguments of one are known, and, with
targets, each kernel recorded from its script (else one of the others) was compiled for one of them.
With --out, files that are in it are not opened again.
"""

import argparse
import json
import random
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tileviz.engine.processes import opening
from tileviz.errors import BadRequest
from tileviz.kernels.opened import found
from tileviz.kernels.opened.found import Found, FoundKernel

# @tilelang.jit    @tl.jit    @T.prim_func    tilelang.compile(program)
HOLDS_KERNEL = re.compile(r"@(?:tilelang|tl)\.jit|T\.prim_func|tilelang\.compile")

BATCH = 8
"""Files opened from one process that imported torch and TileLang once."""


def main() -> None:
    asked = arguments()
    files = kernel_files(asked.checkout, asked.only)
    known = read(asked.out) if asked.out else {}
    todo = [file for file in files if file not in known]
    random.Random(0).shuffle(
        todo
    )  # so that what was done when it was stopped says something of the rest
    batches = [todo[at : at + BATCH] for at in range(0, len(todo), BATCH)]
    with ThreadPoolExecutor(asked.abreast) as pool:
        for documents in pool.map(lambda batch: opened(asked, batch), batches):
            for document in documents:
                known[document["file"]] = document
                print(line_of(document), flush=True)
    print(summary({file: known[file] for file in files}))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path, help="of TileLang's repository")
    parser.add_argument(
        "--targets",
        type=lambda text: tuple(text.split(",")),
        default=(),
        help="compile for these, with commas",
    )
    parser.add_argument(
        "--out", type=Path, help="keep a JSON line for each file here, and go on from it"
    )
    parser.add_argument(
        "--abreast", type=int, default=1, help="files opened side by side (default: 1)"
    )
    parser.add_argument(
        "--timeout", type=float, default=40.0, help="seconds for each script (default: 40)"
    )
    parser.add_argument(
        "--only", default="", help="files whose path holds one of these words, with commas"
    )
    return parser.parse_args()


def kernel_files(checkout: Path, only: str) -> list[str]:
    """Paths under examples/ of the files that hold a kernel."""
    examples = checkout / "examples"
    words = only.split(",")
    files = (
        path
        for path in sorted(examples.rglob("*.py"))
        if HOLDS_KERNEL.search(path.read_text(errors="replace"))
    )
    return [
        name
        for path in files
        if any(word in (name := str(path.relative_to(examples))) for word in words)
    ]


def opened(asked: argparse.Namespace, files: list[str]) -> list[dict]:
    """{"file", "seconds", and "found" or "error"} of each; kept in --out at once. The seconds are
    the mean of those opened together."""
    began = time.monotonic()
    examples = asked.checkout / "examples"
    answers = opening.open_files(
        [
            opening.Request(examples / file, targets=asked.targets, seconds=asked.timeout)
            for file in files
        ]
    )
    seconds = round((time.monotonic() - began) / len(files), 1)
    documents = [
        {"file": file, "seconds": seconds, **answered(answer)}
        for file, answer in zip(files, answers, strict=True)
    ]
    if asked.out:
        with asked.out.open("a") as out:
            out.writelines(json.dumps(document) + "\n" for document in documents)
    return documents


def answered(answer: Found | BadRequest) -> dict:
    if isinstance(answer, BadRequest):
        return {"error": answer.message, "detail": answer.detail[-500:]}
    return {"found": found.to_json(answer)}


def read(out: Path) -> dict[str, dict]:
    documents = map(json.loads, out.read_text().splitlines()) if out.exists() else ()
    return {document["file"]: document for document in documents}


def why_not(document: dict) -> str:
    """Why a file is not open; "" where it is."""
    if "error" in document:
        return document["error"]
    one = found.from_json(document["found"])
    known = [kernel for kernel in one.kernels if kernel.how and not kernel.missing]
    if not known:
        return "; ".join(
            [*(f"{kernel.name}: {kernel.why}" for kernel in one.kernels), *one.troubles]
        )
    compiled = [kernel for kernel in known if kernel.code]
    own = [kernel for kernel in compiled if kernel.how == "recorded"]
    wanted = own if own else compiled
    if not wanted:
        return ""
    good = [any(not code.reason for code in kernel.code) for kernel in wanted]
    if all(good) or (not own and any(good)):
        return ""
    return "; ".join(
        kernel_reason(kernel) for kernel, fine in zip(wanted, good, strict=True) if not fine
    )


def kernel_reason(kernel: FoundKernel) -> str:
    return f"{kernel.name}: {kernel.code[0].reason}"


def line_of(document: dict) -> str:
    why = why_not(document)
    counts = ""
    if "found" in document:
        one: Found = found.from_json(document["found"])
        ways = [kernel.how or "missing" for kernel in one.kernels]
        counts = (
            ", ".join(
                f"{ways.count(way)} {way}" for way in ("recorded", "read", "missing") if way in ways
            )
            + f", script {one.ended}"
        )
    word = "NOT " if why else "open"
    return f"{document['seconds']:6.1f} s {word} {document['file']:<75} {counts} {why[:160]}"


def summary(documents: dict[str, dict]) -> str:
    """Counts, then a table of the files that do not open."""
    closed = {file: why for file, document in documents.items() if (why := why_not(document))}
    records = [
        found.from_json(document["found"]) for document in documents.values() if "found" in document
    ]
    kernels = [kernel for one in records for kernel in one.kernels]
    known = [kernel for kernel in kernels if kernel.how and not kernel.missing]
    recorded = sum(any(kernel.how == "recorded" for kernel in one.kernels) for one in records)
    checked = sum(any(kernel.reference for kernel in one.kernels) for one in records)
    lines = [
        f"{len(documents) - len(closed)} of {len(documents)} files open with no word of a user; "
        f"{recorded} by recording their script",
        f"{len(known)} of {len(kernels)} kernels with all arguments known; "
        f"{checked} files with a check of their own",
        "| file that does not open | why |",
        "|---|---|",
    ]
    return "\n".join(
        [
            *lines,
            *(
                f"| {file} | {' '.join(why.split()).replace('|', '/')[:300]} |"
                for file, why in closed.items()
            ),
        ]
    )


if __name__ == "__main__":
    main()
