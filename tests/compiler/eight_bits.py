"""A product of 8-bit floats, which no kernel of ours has: sm_80 and sm_75 have no instruction for it."""


def gemm(dtype: str = "float8_e4m3fn"):
    """C = A B^T of 64 x 64 in one tile."""
    import tilelang.language as T

    @T.prim_func
    def main(A: T.Tensor((64, 64), dtype), B: T.Tensor((64, 64), dtype), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, 1, threads=128) as (bx, by):
            a, b = T.alloc_shared((64, 64), dtype), T.alloc_shared((64, 64), dtype)
            acc = T.alloc_fragment((64, 64), "float32")
            T.clear(acc)
            T.copy(A, a)
            T.copy(B, b)
            T.gemm(a, b, acc, transpose_B=True)
            T.copy(acc, C)

    return main
