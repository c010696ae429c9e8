"""Its script asks for its options, and fails before it comes to the kernel: the call site tells all
the same."""

import argparse

import a_module_that_is_nowhere as nowhere
import tilelang
import tilelang.language as T

WIDTH = 64


@tilelang.jit(out_idx=[-1])
def copy(N, M, block, dtype="float32"):
    @T.prim_func
    def main(X: T.Tensor((N, M), dtype), Y: T.Tensor((N, M), dtype)):
        with T.Kernel(N, T.ceildiv(M, block), threads=128) as (by, bx):
            for i in T.Parallel(block):
                Y[by, bx * block + i] = X[by, bx * block + i]

    return main


@tilelang.jit(out_idx=[-1])
def never_called(rows, columns):
    @T.prim_func
    def main(X: T.Tensor((rows, columns), "float32"), Y: T.Tensor((rows, columns), "float32")):
        with T.Kernel(rows, threads=1) as by:
            Y[by, 0] = X[by, 0]

    return main


def run(n, block=WIDTH * 2):
    return copy(n, n * 2, block=block)


def main(args):
    import torch

    nowhere.prepare(torch.zeros(1))
    run(args.n)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=16)
    args = parser.parse_args()
    main(args)
