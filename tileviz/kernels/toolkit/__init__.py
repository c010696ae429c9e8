"""What kernels are written with: the declaration, fields and knobs, rules, tiles, pass configs, and `T` with its CPU stand-in."""
