"""Keeps answers of kernels, so that what a page asks at every rerun is worked out once."""

import hashlib
import threading
from collections import OrderedDict

MOST_BYTES = 16 << 20
"""Of all answers together; the one that was used longest ago goes first."""

LARGEST_BYTES = 2 << 20
"""An answer over this is not kept: that to a large sweep's whole space, which is asked once."""


class Kept:
    """Answers as JSON, by the hash of a card and the JSON of a question. Any thread may use it."""

    def __init__(self, most_bytes: int = MOST_BYTES, largest_bytes: int = LARGEST_BYTES) -> None:
        self.most_bytes, self.largest_bytes = most_bytes, largest_bytes
        self.bytes = 0
        self._answers: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, card: str, question: bytes) -> bytes | None:
        """The answer, or None."""
        key = _key(card, question)
        with self._lock:
            found = self._answers.get(key)
            if found is not None:
                self._answers.move_to_end(key)
            return found

    def keep(self, card: str, question: bytes, answer: bytes) -> None:
        """Keeps an answer; others go where there is no room."""
        if len(answer) > self.largest_bytes:
            return
        key = _key(card, question)
        with self._lock:
            self.bytes += len(answer) - len(self._answers.pop(key, b""))
            self._answers[key] = answer
            while self.bytes > self.most_bytes:
                self.bytes -= len(self._answers.popitem(last=False)[1])

    def clear(self) -> None:
        with self._lock:
            self._answers.clear()
            self.bytes = 0


def _key(card: str, question: bytes) -> bytes:
    """Short, however many configs a question lists."""
    return hashlib.blake2b(question, key=card.encode(), digest_size=20).digest()
