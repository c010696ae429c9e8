"""Explore: one config, run, checked, timed and compared."""
