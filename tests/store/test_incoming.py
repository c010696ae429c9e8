"""What someone names as a file: files, pipes with and without someone who writes, and what is neither."""

import os
import threading
import time

import pytest

from tileviz.errors import BadRequest
from tileviz.store import incoming
from tileviz.store.incoming import content_of

MOST = 3 << 20


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_file_is_read_up_to_the_most(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"a" * (MOST + 5))
    assert len(content_of(path, MOST)) == MOST and content_of(path, 2 * MOST) == path.read_bytes()


def test_a_pipe_that_nobody_writes_to_is_refused_after_some_seconds(pipe, monkeypatch):
    monkeypatch.setattr(incoming, "SILENCE_S", 0.2)
    began = time.monotonic()
    with pytest.raises(BadRequest, match=r"cannot read .*pipe: it is no file, and nothing came from it for 0.2 s"):
        content_of(pipe, MOST)
    assert time.monotonic() - began < 5


def test_a_pipe_is_read_to_its_end_however_large_and_slow(pipe):
    whole = os.urandom(2 << 20)

    def write() -> None:
        with pipe.open("wb") as file:
            for start in range(0, len(whole), 300_000):
                file.write(whole[start : start + 300_000])
                time.sleep(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    assert content_of(pipe, MOST) == whole
    writer.join()


def test_a_pipe_whose_writer_stops_in_between_is_refused(pipe, monkeypatch):
    monkeypatch.setattr(incoming, "SILENCE_S", 0.2)
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, b'{"rows":')
    try:
        with pytest.raises(BadRequest, match="nothing came from it for 0.2 s"):
            content_of(pipe, MOST)
    finally:
        os.close(writer)


@pytest.mark.parametrize("name, said", [("none", "No such file"), ("", "Is a directory"), ("a\0b", "null byte")])
def test_what_cannot_be_read_is_told(tmp_path, name, said):
    with pytest.raises(BadRequest, match=said):
        content_of(tmp_path / name, MOST)


def test_an_endless_one_ends_at_the_most():
    assert content_of("/dev/zero", MOST) == bytes(MOST)
