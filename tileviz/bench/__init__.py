"""Checks, times and compares callables: draws of inputs, verdicts, timers, statistics, rooflines, baselines, facts of devices."""
