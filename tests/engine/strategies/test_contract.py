"""Every strategy stays in range, never repeats, is the same for the same seed, and ends."""

import itertools
import random

import pytest

from tileviz.engine.strategies import STRATEGIES, strategy
from tileviz.errors import UnknownName

CONFIGS = [
    {"block_M": m, "block_N": n, "flag": flag, "tl.enable_fast_math": fast}
    for m, n, flag, fast in itertools.product((16, 32, 64), (64, 128, 256), (True, False), (True, False))
    if m * n < 16384
]
FAILURES = {3, 7, 11, 20}


def cost(index: int) -> float:
    config = CONFIGS[index]
    return 10 + abs(config["block_M"] - 32) + abs(config["block_N"] - 128) / 4 + 3 * config["flag"]


def play(name: str, seed: int = 1, configs=CONFIGS, estimates=(), told=()) -> list[int]:
    """Asks until the end; every config fails or gives its cost."""
    chooser = strategy(name)(configs, seed, estimates)
    for index in told:
        chooser.tell(index, cost(index))
    asked = []
    while (index := chooser.ask()) is not None:
        asked.append(index)
        chooser.tell(index, None if index in FAILURES else cost(index))
        assert len(asked) <= len(configs), "it repeats"
    return asked


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_config_is_asked_once_and_then_none(name):
    asked = play(name)
    assert sorted(asked) == list(range(len(CONFIGS)))


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_same_seed_gives_the_same_sequence_and_another_seed_another(name):
    assert play(name, 5) == play(name, 5)
    assert play(name, 5) != play(name, 6)


@pytest.mark.parametrize("name", STRATEGIES)
def test_none_again_after_the_end(name):
    chooser = strategy(name)(CONFIGS[:2], 0)
    assert {chooser.ask(), chooser.ask()} == {0, 1}
    assert (chooser.ask(), chooser.ask()) == (None, None)


@pytest.mark.parametrize("name", STRATEGIES)
def test_what_was_done_before_is_never_asked(name):
    done = [0, 5, 9, 17]
    assert set(play(name, told=done)) == set(range(len(CONFIGS))) - set(done)


@pytest.mark.parametrize("name", STRATEGIES)
def test_several_may_be_out_at_once_and_be_told_in_any_order(name):
    chooser, out, asked = strategy(name)(CONFIGS, 2), [], []
    luck = random.Random(0)
    while True:
        index = chooser.ask()
        if index is not None:
            asked.append(index)
            out.append(index)
        if not out:
            break
        if index is None or len(out) == 4:
            told = out.pop(luck.randrange(len(out)))
            chooser.tell(told, None if told in FAILURES else cost(told))
    assert sorted(asked) == list(range(len(CONFIGS)))


@pytest.mark.parametrize("name", STRATEGIES)
def test_all_failures_are_no_reason_to_stop(name):
    chooser, asked = strategy(name)(CONFIGS, 0), 0
    while (index := chooser.ask()) is not None:
        chooser.tell(index, None)
        asked += 1
    assert asked == len(CONFIGS)


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_empty_space_is_over_at_once_and_one_config_is_enough(name):
    assert strategy(name)([], 0).ask() is None
    assert play(name, configs=CONFIGS[:1]) == [0]


def test_an_unknown_strategy_says_what_exists():
    with pytest.raises(UnknownName, match=f"no strategy 'genetic'; known: {', '.join(sorted(STRATEGIES))}$"):
        strategy("genetic")


@pytest.mark.parametrize("name", STRATEGIES)
def test_estimates_change_the_order_of_those_strategies_alone_that_want_them(name):
    estimates = [float((37 * place) % len(CONFIGS)) for place in range(len(CONFIGS))]
    without, given = strategy(name)(CONFIGS, 0), strategy(name)(CONFIGS, 0, estimates)
    assert (without.ask() != given.ask()) == strategy(name).uses_estimates


def test_the_model_asks_in_the_order_of_its_estimates():
    estimates = [float(len(CONFIGS) - index) for index in range(len(CONFIGS))]
    assert play("model", estimates=estimates) == list(range(len(CONFIGS)))[::-1]


def test_the_model_does_not_fill_the_front_with_configs_it_cannot_tell_apart():
    estimates = [10.0] * 20 + [11.0] * (len(CONFIGS) - 20)
    assert any(index >= 20 for index in play("model", estimates=estimates)[:8])


def test_local_goes_to_the_neighbours_of_the_best():
    chooser = strategy("local")(CONFIGS, 0)
    for index in range(len(CONFIGS) - 12):
        chooser.tell(index, cost(index))
    chooser.start = []
    best = chooser.best
    nearest = min(chooser.distance(best, index) for index in chooser.unseen)
    assert chooser.distance(best, chooser.ask()) == nearest


@pytest.mark.parametrize("name", ["tpe", "local"])
def test_a_search_finds_the_best_sooner_than_chance(name):
    wide = [{"a": a, "b": b} for a in range(16) for b in range(16)]
    value = lambda config: (config["a"] - 11) ** 2 + (config["b"] - 4) ** 2
    places = []
    for seed in range(5):
        chooser = strategy(name)(wide, seed)
        for number in range(len(wide)):
            index = chooser.ask()
            chooser.tell(index, 1.0 + value(wide[index]))
            if value(wide[index]) <= 1:
                places.append(number)
                break
    assert sorted(places)[2] < 51, f"chance alone needs about 51 of 256 for one of the five best: {places}"


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_failure_is_told_and_is_never_the_best(name):
    chooser = strategy(name)(CONFIGS, 3)
    first, second = chooser.ask(), chooser.ask()
    chooser.tell(first, None)
    assert chooser.best is None and chooser.told == {first: None}
    chooser.tell(second, 50.0)
    assert chooser.best == second


@pytest.mark.parametrize("name", [name for name, kind in STRATEGIES.items() if kind.adaptive])
def test_a_search_that_learns_keeps_away_from_where_configs_fail(name):
    wide = [{"a": a, "b": b} for a in range(12) for b in range(12)]
    late = []
    for seed in range(3):
        chooser = strategy(name)(wide, seed)
        for number in range(60):
            index = chooser.ask()
            fails = wide[index]["a"] >= 6
            chooser.tell(index, None if fails else 10.0 + wide[index]["b"])
            late += [fails] if number >= 30 else []
    assert sum(late) / len(late) < 0.35, "half of the space fails, and the search should have seen that"


def test_tpe_is_told_a_failure_as_worse_than_the_worst_time():
    chooser = strategy("tpe")(CONFIGS, 0)
    asked = [chooser.ask() for _ in range(6)]
    for index, value in zip(asked, (30.0, 90.0, None, 40.0, None, 35.0), strict=True):
        chooser.tell(index, value)
    values = [trial.value for trial in chooser.study.trials if trial.value is not None]
    assert sorted(values)[:4] == [30.0, 35.0, 40.0, 90.0] and min(sorted(values)[4:]) > 90.0


def test_seventy_two_asks_of_seventy_two_configs_are_seventy_two_configs():
    """Optuna's sampler asked alone gives 31 of them."""
    space = [{"block_M": m, "num_stages": s, "threads": t} for m in range(6) for s in range(4) for t in range(3)]
    chooser = strategy("tpe")(space, 0)
    asked = []
    for _ in range(72):
        asked.append(chooser.ask())
        chooser.tell(asked[-1], 10.0 + asked[-1])
    assert len(set(asked)) == 72 and chooser.ask() is None
