"""The form of a kernel, on every page that has one: problem, knobs, measuring, meters, and the link
that holds them."""
