"""The Sweep page: set up a space, watch it being searched, and read what came out."""
