"""A lazy kernel with an autotune list, checked and timed by TileLang's profiler."""

import tilelang
import tilelang.language as T


def reference(x):
    return x * 2


@tilelang.autotune(configs=[{"block": 64, "threads": 64}, {"block": 128, "threads": 128}])
@tilelang.jit(out_idx=[-1], pass_configs={"tl.disable_warp_specialized": True})
def double(N, M, dtype=T.float16, is_fast=True, block=32, threads=32):
    @T.prim_func
    def main(X: T.Tensor((N, M), dtype), Y: T.Tensor((N, M), dtype)):
        with T.Kernel(N, T.ceildiv(M, block), threads=threads) as (by, bx):
            for i in T.Parallel(block):
                Y[by, bx * block + i] = X[by, bx * block + i] * 2

    return main


if __name__ == "__main__":
    profiler = double(32, 256).get_profiler()
    profiler.assert_allclose(reference, rtol=1e-2, atol=1e-3)
    print("the profiler said", profiler.do_bench())
