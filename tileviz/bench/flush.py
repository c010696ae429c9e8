"""Empties the L2 cache before a launch, outside the timed window: by reading a big buffer, or, to show the difference, by writing one.

A write leaves dirty lines that the timed kernel then pays to write back: 12 to 21 % more for memory-bound kernels of 4 to 16 million
elements on an H200. A read leaves clean ones.
"""

from tileviz.errors import UnknownName

MODES = {
    "read": "sum of a buffer several times as large as L2: leaves clean lines",
    "write": "zeroes such a buffer: leaves dirty lines, which the timed kernel pays for",
    "none": "nothing",
}

TIMES_L2 = 4
"""Size of the buffer, in L2 caches."""

UNKNOWN_L2_BYTES = 128 << 20


class Flush:
    """flush() enqueues the flush on the current stream of the device. The buffer is made at the first call and kept."""

    def __init__(self, device: str, mode: str = "read") -> None:
        if mode not in MODES:
            raise UnknownName.of("flush", mode, MODES)
        self.device, self.mode = device, mode
        self._buffer = self._sum = None

    def __call__(self) -> None:
        import torch

        if self.mode == "none":
            return
        if self._buffer is None:
            self._buffer = torch.zeros(self.bytes() // 4, dtype=torch.float32, device=self.device)
            self._sum = torch.zeros((), dtype=torch.float32, device=self.device)
        if self.mode == "read":
            torch.sum(self._buffer, dim=0, out=self._sum)
        else:
            self._buffer.zero_()

    def bytes(self) -> int:
        """Size of the buffer."""
        import torch

        return TIMES_L2 * (getattr(torch.cuda.get_device_properties(self.device), "L2_cache_size", 0) or UNKNOWN_L2_BYTES)
