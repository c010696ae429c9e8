"""tileviz: explore GPU kernels written in TileLang, on the device of this machine."""

__version__ = "0.1.0"
