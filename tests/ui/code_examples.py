"""Artifacts with linked texts, made from a golden folder, for tests of the Code page."""

import json
from pathlib import Path

from tests.asked import resolve
from tests.ui import examples
from tileviz import kernels
from tileviz.engine.jobs.compile import counted
from tileviz.engine.requests import Request
from tileviz.records import Artifact, Resources, SharedBytes

CASES = Path(__file__).resolve().parents[1] / "lens" / "cases"


PLAIN_GEMM = {"variant": "plain", "store": "direct", "policy": "Square", "cluster": 1}
"""Knobs that came after the golden folders were made."""


def request(case: str = "gemm_sm_90a", **config) -> Request:
    """The request of a golden folder; knobs given here are other than its own."""
    made = json.loads((CASES / case / "case.json").read_text())["made_from"]
    since = PLAIN_GEMM if made["kernel"] == "gemm" else {}
    return resolve(
        made["kernel"],
        made["problem"],
        {**since, **made["config"], **config},
        kind="compile",
        target=made["target"],
        devices=[examples.CPU],
    )


def artifact(case: str = "gemm_sm_90a", of: Request | None = None, **more) -> Artifact:
    """Its artifact. Lines go by what is on them: T.gemm to wgmma_ss to wgmma and HGMMA, T.copy(A to tma_load(A_desc to UTMALDG."""
    folder, asked = CASES / case, of or request(case)
    made = json.loads((folder / "case.json").read_text())["made_from"]
    kernel = kernels.kernel(asked.kernel)
    texts = {
        "source": (folder / "source.cu").read_text(),
        "ptx": (folder / "kernel.ptx").read_text(),
        "sass": (folder / "kernel.sass").read_text(),
    }
    cuda = {words: line_with(texts["source"], words) for words in ("wgmma_ss<", "tma_load(A_desc")}
    python = {cuda["wgmma_ss<"]: line_with(kernel.source, "T.gemm("), cuda["tma_load(A_desc"]: line_with(kernel.source, "T.copy(A[")}
    lines = {
        "source": tuple(python.get(number, 0) for number in range(1, texts["source"].count("\n") + 2)),
        "ptx": tuple(cuda["wgmma_ss<"] if "wgmma.mma_async" in text else 0 for text in texts["ptx"].split("\n")),
        "sass": tuple(
            cuda["wgmma_ss<"] if "HGMMA" in text else cuda["tma_load(A_desc"] if "UTMALDG" in text else 0
            for text in texts["sass"].split("\n")
        ),
    }
    values = {
        "key": asked.key, "target": asked.target, "source_language": "cuda", **texts,
        "ir": "def gemm_kernel():\n    T.tma_load(A)", "program": kernel.source,
        "lines": lines, "tensors": tuple(made["tensors"]), "compiler": made["compiler"],
        "resources": Resources(168, 0, SharedBytes(1024, 16384), 256, (2, 2, 1), 1, 0.125, "registers"),
    }  # fmt: skip
    return counted(Artifact(**{**values, **more}))


def line_with(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if words in line)


def words(of: Request) -> dict[str, str]:
    """The address's parameters for a request."""
    values = {"kernel": of.kernel, "target": of.target, **of.problem, **of.config}
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items()}
