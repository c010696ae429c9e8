"""Kernels whose code is in another process: `python -m tests.kernels.answering` answers there, `use()` asks it here.

As a plugin, `pytest -p tests.kernels.answering`, all tests of a run ask that process, and the run fails where it
imported the code of any kernel itself.
"""

import subprocess
import sys
from pathlib import Path

from tileviz import kernels
from tileviz.kernels.built_in import BuiltIn
from tileviz.kernels.card import Card

CARD = b"card"
"""In place of a question: give the card."""


class Child:
    """The process that has the code: a line in is a kernel's name and a question, a line out the answer."""

    def __init__(self) -> None:
        root = Path(__file__).resolve().parents[2]
        command = [sys.executable, "-m", "tests.kernels.answering"]
        self.process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.questions = 0

    def ask(self, name: str, question: bytes) -> bytes:
        self.questions += question is not CARD
        self.process.stdin.write(name.encode() + b" " + question + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def who_answers(self, name: str):
        """What `kernels.who_answers` is while kernels answer from here."""
        kernels.check_name(name)
        return Card.from_json(self.ask(name, CARD)), lambda question: self.ask(name, question)

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)


def use() -> Child:
    """From here on every kernel of this process answers from a child, which is to be ended."""
    child = Child()
    kernels.who_answers = child.who_answers
    kernels.kernel.cache_clear()
    return child


def code_here() -> list[str]:
    """Modules of kernels that this process has imported."""
    return [module for module in kernels.MODULES.values() if module in sys.modules]


def pytest_configure(config) -> None:
    config.answering = use()


def pytest_sessionfinish(session, exitstatus) -> None:
    child = session.config.answering
    child.end()
    print(f"\n{child.questions} questions crossed; code of kernels in this process: {code_here()}")
    if code_here() or not child.questions:
        session.exitstatus = 3


def answer_lines() -> None:
    """Until the end of the input."""
    known = {name: BuiltIn(kernels.code(name)) for name in kernels.names()}
    for line in sys.stdin.buffer:
        name, _, question = line.rstrip(b"\n").partition(b" ")
        has_code = known[name.decode()]
        answer = has_code.card.to_json() if question == CARD else has_code.answer(question)
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    answer_lines()
