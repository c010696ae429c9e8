"""Charts: each is a pair of functions, `..._frame(records) -> DataFrame` and
`..._figure(frame) -> Figure`."""
