"""Sweeps: a space of configs, a strategy that orders it, a budget, and a pipeline that keeps the
device busy and loses nothing."""
