"""Holds no kernel."""

print("hello")
