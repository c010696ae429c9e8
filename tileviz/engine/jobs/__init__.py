"""The work, a file a kind: the job that runs in a child, and the task that takes it through the
engine.

A job is frozen and picklable, and can be called in a test, in a child of the engine, or anywhere
else: with `report(kind, value)` for what exists before it ends, and it returns its result.
"""
