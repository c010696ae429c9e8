"""Datasheet peaks of GPUs: dense rates and memory bandwidth, each with its source. Only what the source says is entered.

Rates are TFLOPS without sparsity, at the boost clock, accumulating in float32; where a source gives only the rate with sparsity,
half of it. Names are those that the driver reports, without vendor and brand. A MIG slice or a laptop part is not in the table,
nor is a name that two cards of unequal SMs and memory share (the RTX 3080 of 10 and of 12 GB).

Figures were set against copies and quotations of the named document, and against SMs x clock x rate of an SM (tests). To know:
- Hopper's 989.4 and 494.7 are the H100 architecture whitepaper's; the sheets round: 1,979 and 989 with sparsity, GH200 990 and 494.
- The L40's sheet has half the tensor rates of the L40S, the same chip at nearly the same clock; the L40S's has 362 without sparsity
  and 733 with it. Both stand as printed; no measurement of an L40 was found.
- The RTX 2080 Ti is the Founders Edition; the reference card has 53.8 and 13.4.
- B200: the TF32 rate is an eighth of the HGX board's 18 PFLOPS with sparsity; the sheet rounds a GPU's to 2.2.
- Not checked against a document: TF32 of the RTX cards and the tensor rates of the RTX 4080, seen only in tables that others made of
  it; the bandwidth of the T4, whose memory is 256 bit at 10 Gbit/s a pin (copies of its sheet say 300 GB/s).
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

    def mode(self, math_mode: str) -> str:
        """The key of `tflops` for a math mode as kernels and baselines name it: `float16 in, float32 accumulate` is float16."""
        return mode_of(self.tflops, math_mode)


def mode_of(rates: dict[str, float], math_mode: str) -> str:
    """The key of `rates` for a math mode in words; its first word when it is not there."""
    word = math_mode.split(" ")[0].rstrip(",")
    return next((name for name in rates if name.lower() == word.lower()), word)


def _gpu(half: float, tf32: float | None, single: float, tbps: float, source: str, *, bfloat16: bool = True) -> Peaks:
    rates = {"float16": half, "bfloat16": half if bfloat16 else None, "TF32": tf32, "float32": single}
    known = {name: rate for name, rate in rates.items() if rate is not None}
    return Peaks(known, tbps, f"NVIDIA {source}")


_A100, _H100, _H200 = "A100 datasheet", "H100 datasheet", "H200 datasheet"
_TURING, _AMPERE, _ADA = "Turing architecture whitepaper", "Ampere GA102 architecture whitepaper", "Ada architecture whitepaper"
_RTX50 = "RTX Blackwell architecture whitepaper"

PEAKS = {
    "V100-SXM2-16GB": _gpu(125, None, 15.7, 0.900, "V100 datasheet", bfloat16=False),
    "V100-SXM2-32GB": _gpu(125, None, 15.7, 0.900, "V100 datasheet", bfloat16=False),
    "V100-PCIE-16GB": _gpu(112, None, 14.0, 0.900, "V100 datasheet", bfloat16=False),
    "V100-PCIE-32GB": _gpu(112, None, 14.0, 0.900, "V100 datasheet", bfloat16=False),
    "T4": _gpu(65, None, 8.1, 0.320, "T4 datasheet", bfloat16=False),
    "RTX 2080 Ti": _gpu(56.9, None, 14.2, 0.616, _TURING, bfloat16=False),
    "A100-SXM4-40GB": _gpu(312, 156, 19.5, 1.555, _A100),
    "A100-PCIE-40GB": _gpu(312, 156, 19.5, 1.555, _A100),
    "A100-SXM4-80GB": _gpu(312, 156, 19.5, 2.039, _A100),
    "A100 80GB PCIe": _gpu(312, 156, 19.5, 1.935, _A100),
    "A30": _gpu(165, 82, 10.3, 0.933, "A30 datasheet"),
    "A10": _gpu(125, 62.5, 31.2, 0.600, "A10 datasheet"),
    "A40": _gpu(149.7, 74.8, 37.4, 0.696, "A40 datasheet"),
    "RTX A6000": _gpu(154.8, 77.4, 38.7, 0.768, _AMPERE),
    "RTX 3090": _gpu(71, 35.6, 35.6, 0.936, _AMPERE),
    "L4": _gpu(121, 60, 30.3, 0.300, "L4 datasheet"),
    "L40": _gpu(181, 90.5, 90.5, 0.864, "L40 datasheet"),
    "L40S": _gpu(362, 183, 91.6, 0.864, "L40S datasheet"),
    "RTX 6000 Ada Generation": _gpu(364.2, 182.1, 91.1, 0.960, "Ada professional GPU architecture whitepaper"),
    "RTX 4080": _gpu(97.5, 48.7, 48.7, 0.717, _ADA),
    "RTX 4090": _gpu(165.2, 82.6, 82.6, 1.008, _ADA),
    "H100 80GB HBM3": _gpu(989.4, 494.7, 67, 3.35, _H100),
    "H100 PCIe": _gpu(756, 378, 51, 2.0, _H100),
    "H100 NVL": _gpu(835.5, 417.5, 60, 3.9, _H100),
    "H200": _gpu(989.4, 494.7, 67, 4.8, _H200),
    "H200 NVL": _gpu(835.5, 417.5, 60, 4.8, _H200),
    "GH200 480GB": _gpu(989.4, 494.7, 67, 4.0, "GH200 datasheet"),
    "B200": _gpu(2250, 1125, 75, 7.7, "Blackwell datasheet, HGX B200, a GPU"),
    "GB200": _gpu(2500, 1250, 80, 8.0, "Blackwell datasheet, GB200 NVL72, a GPU"),
    "RTX 5080": _gpu(112.6, 56.3, 56.3, 0.960, _RTX50),
    "RTX 5090": _gpu(209.5, 104.8, 104.8, 1.792, _RTX50),
}

_BRANDS = ("NVIDIA ", "Tesla ", "GeForce ", "Quadro ")


def peaks_of(device_name: str) -> Peaks | None:
    """The peaks of a GPU by the name its driver reports (`NVIDIA GeForce RTX 4090`), or None when it is not in the table."""
    name = device_name.strip()
    for brand in _BRANDS:
        name = name.removeprefix(brand)
    return PEAKS.get(name)
