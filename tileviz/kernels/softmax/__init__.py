"""Softmax over the rows of a matrix, each row of any length.

What bounds it: memory. A row is read and written once where it fits into registers, 4 bytes an
element in float16, and there is little to compute: on an H200 it comes to the speed of a copy
(4.30 TB/s) for all but the shortest problems. What costs is a second read, or a row that too few
threads wait for.

Three programs; the knob `variant` chooses. When each wins, on an H200, float16:

whole    A block keeps its rows in registers. Rows up to 32,768 columns (8192 x 8192: 60.7 us, as
         Triton's; 4096 x 32768: 128 us, Triton's 167), several in a block where they are short
         (131072 x 128: 15.6 us, Triton's 15.7).
cluster  The blocks of a cluster share a row and tell each other its highest value and its sum.
         Rows too long for one block (1024 x 131072: 146 us, Triton's 200), and long rows that
         are few (8 x 262144: 5.9 us, torch.compile 10.3). Hopper and newer.
online   Rows of any length by steps, read twice: where neither of the others can.

The modules: `softmax` declares the kernel and holds whole and online; `cluster` holds the third;
`parts` is what they share; `rules` says what does not fit and what a problem starts from.
"""
