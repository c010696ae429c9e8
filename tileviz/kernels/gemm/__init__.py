"""Matrix products, C = A @ B, alone (`gemm`) and with bias and activation behind them (`gemm_bias_gelu`).

What bounds them: the tensor cores where M, N and K are large, and the memory where one of them is
small: 2 M N K operations stand against (M K + K N + M N) elements. An H200 multiplies float16 at
778 TFLOPS and copies at 4.30 TB/s (both measured), so the two meet near 180 operations a byte.
Between lie the sizes whose tiles do not come to a whole number of turns for the SMs.

Five programs make the same product; the knob `variant` chooses. When each wins, on an H200:

plain       A block for each tile of C; TileLang itself lays loads beside products. The one for
            every target and dtype, and the fastest for M up to 64 (16 x 4096 x 4096: 9.8 us,
            cuBLASLt 12.1) and for rows that TMA does not take.
persistent  A block for each SM takes tile after tile, and loads run ahead over the end of one.
            From 100 tiles of C on, the usual choice (4096^3: 176 us, cuBLASLt 177).
pingpong    Two warp groups with a tile each: one multiplies while the other finishes and stores.
            Where K is short or the activation long (16384 x 4096 x 1024: 182 us, cuBLASLt 195;
            with bias and GELU, 8192 x 16384 x 1024: 395 us, cuBLASLt's own epilogue 441).
split_k     The blocks of a cluster share the depth of a tile, for few tiles. Has not paid on an
            H200 (64 x 8192 x 8192: 33.7 us, plain 32.8).
tcgen05     Sums in tensor memory, for data-centre Blackwell: compiled and read, never run by us.

persistent, pingpong and split_k tell their warps apart by hand and are for Hopper (sm_90a) with
float16 or bfloat16. `rules` says what each of them refuses and what a problem starts from.

The modules: `gemm` and `gemm_bias_gelu` declare the kernels and hold plain; `persistent`,
`pingpong`, `split_k` and `tcgen05` hold the others; `pipeline` and `turns` are what the ones for
Hopper share; `torch_calls` is what PyTorch offers instead.
"""
