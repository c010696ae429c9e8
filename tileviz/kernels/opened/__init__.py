"""Finds what a file with TileLang kernels holds, by running its own script and by reading its call
sites.

All of it but `found`, `values`, `merging` and `texts` runs in disposable children only: it runs a
stranger's code.
"""
