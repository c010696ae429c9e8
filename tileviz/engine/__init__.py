"""The engine: one process a machine that compiles and measures in children it can kill, and writes
every result the moment it exists.

`requests` completes and checks what is asked for, `client` hands it over and watches, the rest is
the engine's own process.
"""
