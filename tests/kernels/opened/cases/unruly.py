"""Writes where it should not, listens, and leaves processes behind; then raises."""

import os
import pathlib
import socket
import subprocess
import tempfile

import tilelang
import tilelang.language as T

NAME = "left_by_a_script_that_tileviz_opened"


@tilelang.jit(out_idx=[-1])
def small(N):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(N, threads=1) as bx:
            Y[bx] = X[bx]

    return main


small(16)
for folder in (pathlib.Path.home(), pathlib.Path.cwd(), pathlib.Path(tempfile.gettempdir())):
    (folder / NAME).write_text("kept in scratch")
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
if os.fork() == 0:
    os.setsid()
    os.execvp("sleep", ["sleep", "7654321"])
subprocess.Popen(["sleep", "7654321"], start_new_session=True, env={"PATH": os.environ["PATH"]})
pathlib.Path(__file__).with_name(NAME).write_text("outside")
