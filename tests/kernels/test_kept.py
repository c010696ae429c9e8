"""Answers that are kept: found again by card and question, never over their share of memory."""

import threading

from tileviz.kernels.kept import Kept


def test_an_answer_is_found_by_its_card_and_question():
    kept = Kept()
    kept.keep("card", b"question", b"answer")
    assert kept.find("card", b"question") == b"answer"
    assert kept.find("other card", b"question") is None
    assert kept.find("card", b"other question") is None


def test_the_one_used_longest_ago_goes_first():
    kept = Kept(most_bytes=30)
    for name in (b"a", b"b", b"c"):
        kept.keep("card", name, bytes(10))
    kept.find("card", b"a")
    kept.keep("card", b"d", bytes(10))
    assert [name for name in (b"a", b"b", b"c", b"d") if kept.find("card", name)] == [
        b"a",
        b"c",
        b"d",
    ]
    assert kept.bytes == 30


def test_a_very_large_answer_is_not_kept():
    kept = Kept(largest_bytes=10)
    kept.keep("card", b"small", bytes(10))
    kept.keep("card", b"large", bytes(11))
    assert (kept.find("card", b"small"), kept.find("card", b"large"), kept.bytes) == (
        bytes(10),
        None,
        10,
    )


def test_an_answer_given_twice_counts_once():
    kept = Kept()
    kept.keep("card", b"question", bytes(10))
    kept.keep("card", b"question", bytes(20))
    assert kept.bytes == 20
    kept.clear()
    assert (kept.bytes, kept.find("card", b"question")) == (0, None)


def test_many_threads_leave_the_count_right():
    kept = Kept(most_bytes=1000)

    def work(own: int) -> None:
        for number in range(500):
            kept.keep("card", b"%d %d" % (own, number % 50), bytes(number % 40 + 1))
            kept.find("card", b"%d %d" % (own, number % 7))

    threads = [threading.Thread(target=work, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < kept.bytes <= 1000
    assert kept.bytes == sum(map(len, kept._answers.values()))
