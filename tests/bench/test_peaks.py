"""The datasheet peaks agree with what a chip's parts can do at its boost clock."""

import math
from dataclasses import dataclass

import pytest

from tileviz.bench.peaks import PEAKS, peaks_of


@dataclass(frozen=True)
class Parts:
    """What a rate is made of. Clocks in MHz, FLOPs a clock of one SM, memory as bits of the bus and Gbit/s a pin."""

    sms: int
    single_mhz: int
    single_flops: int
    half_flops: int | None = None
    """Dense float16 products accumulated in float32; None where the clock of the tensor rates is in no document."""
    half_mhz: int | None = None
    """Where the source takes another clock for tensor cores than for float32."""
    bus: tuple[int, float] | None = None
    """None where the rate of a pin is in no document."""


A100, GH100 = (108, 1410, 128, 2048), (132, 1980, 256, 4096, 1830)

PARTS = {
    "V100-SXM2-16GB": Parts(80, 1530, 128, 1024, bus=(4096, 1.755)),
    "V100-SXM2-32GB": Parts(80, 1530, 128, 1024, bus=(4096, 1.755)),
    "V100-PCIE-16GB": Parts(80, 1380, 128, 1024, bus=(4096, 1.755)),
    "V100-PCIE-32GB": Parts(80, 1380, 128, 1024, bus=(4096, 1.755)),
    "T4": Parts(40, 1590, 128, 1024, bus=(256, 10)),
    "RTX 2080 Ti": Parts(68, 1635, 128, 512, bus=(352, 14)),
    "A100-SXM4-40GB": Parts(*A100, bus=(5120, 2.43)),
    "A100-PCIE-40GB": Parts(*A100, bus=(5120, 2.43)),
    "A100-SXM4-80GB": Parts(*A100, bus=(5120, 3.186)),
    "A100 80GB PCIe": Parts(*A100, bus=(5120, 3.024)),
    "A30": Parts(56, 1440, 128, 2048, bus=(3072, 2.43)),
    "A10": Parts(72, 1695, 256, 1024, bus=(384, 12.5)),
    "A40": Parts(84, 1740, 256, 1024, bus=(384, 14.5)),
    "RTX A6000": Parts(84, 1800, 256, 1024, bus=(384, 16)),
    "RTX 3090": Parts(82, 1695, 256, 512, bus=(384, 19.5)),
    "L4": Parts(58, 2040, 256, 1024, bus=(192, 12.5)),
    "L40": Parts(142, 2490, 256, 512, bus=(384, 18)),
    "L40S": Parts(142, 2520, 256, 1024, bus=(384, 18)),
    "RTX 6000 Ada Generation": Parts(142, 2505, 256, 1024, bus=(384, 20)),
    "RTX 4080": Parts(76, 2505, 256, 512, bus=(256, 22.4)),
    "RTX 4090": Parts(128, 2520, 256, 512, bus=(384, 21)),
    "H100 80GB HBM3": Parts(*GH100, bus=(5120, 5.238)),
    "H100 PCIe": Parts(114, 1755, 256, 4096, 1620, bus=(5120, 3.186)),
    "H100 NVL": Parts(132, 1785, 256),
    "H200": Parts(*GH100),
    "H200 NVL": Parts(132, 1785, 256),
    "GH200 480GB": Parts(*GH100),
    "RTX 5080": Parts(84, 2617, 256, 512, bus=(256, 30)),
    "RTX 5090": Parts(170, 2407, 256, 512, bus=(512, 28)),
}

NO_CLOCK = {"B200", "GB200"}
"""Their sheet names neither SMs nor clocks."""

CLOSE = 0.02
"""Sheets round down to whole numbers."""


def test_every_entry_is_checked_or_known_not_to_be():
    assert set(PARTS) | NO_CLOCK == set(PEAKS) and not set(PARTS) & NO_CLOCK


@pytest.mark.parametrize("name", PARTS)
def test_rates_are_sms_times_clock_times_rate_of_an_sm(name):
    parts, rates = PARTS[name], PEAKS[name].tflops
    assert math.isclose(rates["float32"], parts.sms * parts.single_mhz * parts.single_flops / 1e6, rel_tol=CLOSE)
    if parts.half_flops is not None:
        half = parts.sms * (parts.half_mhz or parts.single_mhz) * parts.half_flops / 1e6
        assert math.isclose(rates["float16"], half, rel_tol=CLOSE)
        assert "TF32" not in rates or math.isclose(rates["TF32"], half / 2, rel_tol=CLOSE)


@pytest.mark.parametrize("name", [name for name, parts in PARTS.items() if parts.bus])
def test_bandwidth_is_the_width_of_the_bus_times_the_rate_of_a_pin(name):
    bits, gbit = PARTS[name].bus
    assert math.isclose(PEAKS[name].tbps, bits * gbit / 8 / 1e3, rel_tol=CLOSE)


def test_the_same_chip_on_another_board_keeps_its_rates():
    h100, h200, gh200 = (PEAKS[name].tflops for name in ("H100 80GB HBM3", "H200", "GH200 480GB"))
    assert h100 == h200 == gh200 and PEAKS["H100 NVL"].tflops == PEAKS["H200 NVL"].tflops


def test_the_b200_of_an_hgx_board_is_slower_than_that_of_a_gb200():
    board, rack = PEAKS["B200"], PEAKS["GB200"]
    assert board.tbps < rack.tbps and all(board.tflops[mode] < rate for mode, rate in rack.tflops.items())


def test_a_name_that_two_cards_share_has_no_peaks():
    assert peaks_of("NVIDIA GeForce RTX 3080") is None
