"""Reads generated code: which instructions of which class are on which line, and how many of each. Text in, records out."""

from tileviz.lens.classes import CLASSES, InstructionClass
from tileviz.lens.listing import READERS, Hit, Line, Listing, counts, listing

LANGUAGES = tuple(READERS)

__all__ = ["CLASSES", "LANGUAGES", "Hit", "InstructionClass", "Line", "Listing", "counts", "listing"]
