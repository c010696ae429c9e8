"""From a tile program to CUDA or C, PTX, machine code and SASS, with what the kernel takes and how much of it fits on an SM.

`targets` names what code can be generated for, `toolchain` says what is installed, `pipeline.compile_program` compiles, and
`runtime.executable` gives the compiled kernel as a callable. None of them imports TileLang or torch before it is needed.
"""
