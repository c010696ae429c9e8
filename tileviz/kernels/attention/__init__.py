"""Attention, forward: O = softmax(scale Q K^T) V without ever storing the scores.

What bounds it: tensor cores and exponentials together. With heads of 128, each score costs 512
operations of the tensor cores and one exponential; an SM does 4,096 of the one and 16 of the
other a cycle, so exponentials take half as long as the products, and the fast programs make the
one beside the other. With one query for each sequence it is memory: keys and values are read once
(8,192 keys: 239 us, SDPA cuDNN 239).

Three schedules; the knob `schedule` chooses. When each wins, on an H200, float16:

plain     TileLang orders the work: the one for every target and dtype.
overlap   By hand for Hopper: the softmax of one key tile runs while another tile is multiplied.
          Few queries, where memory sets the pace and small tiles are best.
pingpong  Overlap, and the groups of threads take turns at the tensor cores: everything else on
          Hopper (4 x 16 x 4096 x 128: 818 us, PyTorch's SDPA 848; causal: 439 us, SDPA cuDNN 484).

With a causal mask the rows are of unlike length: `heads_together` sets the long ones of several
heads first. Without one, blocks that stay (`blocks`) bring their next queries while the last rows
leave.

The modules: `flash_attention` declares the kernel and holds plain; `overlapped` holds the other
two; `scale` and `masks` say how scores are scaled and masked; `rules` says what does not fit and
`start` what a problem starts from; `torch_calls` is what PyTorch offers instead.
"""
