"""Reads generated code: which instructions of which class are on which line, and how many of each. Text in, records out."""

from tileviz.lens.classes import CLASSES, InstructionClass
from tileviz.lens.listing import LANGUAGES, Hit, Line, Listing, counts, listing

__all__ = ["CLASSES", "LANGUAGES", "Hit", "InstructionClass", "Line", "Listing", "counts", "listing"]
