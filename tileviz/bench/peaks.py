"""Datasheet peaks of GPUs: dense rates, memory bandwidth and L2, each with its source. Only what the source says is entered.

Rates are TFLOPS without sparsity, at the boost clock, accumulating in float32; where a source gives only the rate with sparsity,
half of it. Names are those that the driver reports, without vendor and brand. A MIG slice or a laptop part is not in the table.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Peaks:
    """Ceilings of one GPU."""

    tflops: dict[str, float]
    """By precision of the products: `float16`, `bfloat16`, `TF32`, `float32` (no tensor cores). Missing where there is none."""
    tbps: float
    """DRAM bandwidth, 10^12 bytes a second."""
    source: str
    l2_bytes: int | None = None

    def mode(self, math_mode: str) -> str:
        """The key of `tflops` for a math mode as kernels and baselines name it: `float16 in, float32 accumulate` is float16."""
        return mode_of(self.tflops, math_mode)


def mode_of(rates: dict[str, float], math_mode: str) -> str:
    """The key of `rates` for a math mode in words; its first word when it is not there."""
    word = math_mode.split(" ")[0].rstrip(",")
    return next((name for name in rates if name.lower() == word.lower()), word)


def _gpu(
    half: float | None, tf32: float | None, single: float, tbps: float, l2_mb: float | None, source: str, *, bfloat16: bool = True
) -> Peaks:
    rates = {"float16": half, "bfloat16": half if bfloat16 else None, "TF32": tf32, "float32": single}
    known = {name: rate for name, rate in rates.items() if rate is not None}
    return Peaks(known, tbps, f"NVIDIA {source}", None if l2_mb is None else int(l2_mb * (1 << 20)))


_A100, _H100, _H200 = "A100 datasheet", "H100 datasheet", "H200 datasheet"
_TURING, _AMPERE, _ADA = "Turing architecture whitepaper", "Ampere GA102 architecture whitepaper", "Ada architecture whitepaper"
_RTX50 = "RTX Blackwell architecture whitepaper"

PEAKS = {
    "V100-SXM2-16GB": _gpu(125, None, 15.7, 0.900, 6, "V100 datasheet", bfloat16=False),
    "V100-SXM2-32GB": _gpu(125, None, 15.7, 0.900, 6, "V100 datasheet", bfloat16=False),
    "V100-PCIE-16GB": _gpu(112, None, 14.0, 0.900, 6, "V100 datasheet", bfloat16=False),
    "V100-PCIE-32GB": _gpu(112, None, 14.0, 0.900, 6, "V100 datasheet", bfloat16=False),
    "T4": _gpu(65, None, 8.1, 0.320, 4, _TURING, bfloat16=False),
    "RTX 2080 Ti": _gpu(56.9, None, 14.2, 0.616, 5.5, _TURING, bfloat16=False),
    "A100-SXM4-40GB": _gpu(312, 156, 19.5, 1.555, 40, _A100),
    "A100-PCIE-40GB": _gpu(312, 156, 19.5, 1.555, 40, _A100),
    "A100-SXM4-80GB": _gpu(312, 156, 19.5, 2.039, 40, _A100),
    "A100 80GB PCIe": _gpu(312, 156, 19.5, 1.935, 40, _A100),
    "A30": _gpu(165, 82, 10.3, 0.933, 24, "A30 datasheet"),
    "A10": _gpu(125, 62.5, 31.2, 0.600, 6, "A10 datasheet"),
    "A40": _gpu(149.7, 74.8, 37.4, 0.696, 6, "A40 datasheet"),
    "RTX A6000": _gpu(154.8, 77.4, 38.7, 0.768, 6, _AMPERE),
    "RTX 3080": _gpu(59.5, 29.8, 29.8, 0.760, 5, _AMPERE),
    "RTX 3090": _gpu(71, 35.6, 35.6, 0.936, 6, _AMPERE),
    "L4": _gpu(121, 60, 30.3, 0.300, 48, "L4 datasheet"),
    "L40": _gpu(181, 90.5, 90.5, 0.864, 96, "L40 datasheet"),
    "L40S": _gpu(362, 183, 91.6, 0.864, 96, "L40S datasheet"),
    "RTX 6000 Ada Generation": _gpu(364.2, 182.1, 91.1, 0.960, 96, _ADA),
    "RTX 4080": _gpu(97.5, 48.7, 48.7, 0.717, 64, _ADA),
    "RTX 4090": _gpu(165.2, 82.6, 82.6, 1.008, 72, _ADA),
    "H100 80GB HBM3": _gpu(989.4, 494.7, 67, 3.35, 50, _H100),
    "H100 PCIe": _gpu(756, 378, 51, 2.0, 50, _H100),
    "H100 NVL": _gpu(835.5, 417.5, 60, 3.9, 50, _H100),
    "H200": _gpu(989.4, 494.7, 67, 4.8, 50, _H200),
    "H200 NVL": _gpu(835.5, 417.5, 60, 4.8, 50, _H200),
    "GH200 480GB": _gpu(989.4, 494.7, 67, 4.0, 50, "GH200 datasheet"),
    "B200": _gpu(2250, 1125, 75, 8.0, None, "Blackwell datasheet, HGX B200, a GPU"),
    "GB200": _gpu(2500, 1250, 80, 8.0, None, "Blackwell datasheet, GB200 NVL72, a GPU"),
    "RTX 5080": _gpu(112.6, 56.3, 56.3, 0.960, 64, _RTX50),
    "RTX 5090": _gpu(209.5, 104.8, 104.8, 1.792, 96, _RTX50),
}

_BRANDS = ("NVIDIA ", "Tesla ", "GeForce ", "Quadro ")


def peaks_of(device_name: str) -> Peaks | None:
    """The peaks of a GPU by the name its driver reports (`NVIDIA GeForce RTX 4090`), or None when it is not in the table."""
    name = device_name.strip()
    for brand in _BRANDS:
        name = name.removeprefix(brand)
    return PEAKS.get(name)
