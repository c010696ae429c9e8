"""Optuna's tree-structured Parzen estimator, kept from repeating itself.

Asked alone it repeats configs (72 asks of 72 configs gave 31). So a draw that was given before is
answered at once with what is known of it, a draw that the space does not hold counts as a failure,
and after a few of these an untried config is put in its queue.
"""

from tileviz.engine.strategies.base import Strategy

TRIES = 10
"""Draws that are not new before an untried config is enqueued."""

STARTUP = 10
"""Random configs before the estimator takes over."""

PENALTY = 2.0
"""A failure is told as this many times the worst time."""


class Tpe(Strategy):
    title = "Optuna's TPE"
    adaptive = True

    def begin(self) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.optuna = optuna
        self.names = list(self.configs[0]) if self.configs else []
        self.values = {
            name: list(dict.fromkeys(config[name] for config in self.configs))
            for name in self.names
        }
        self.places = {self._key(config): index for index, config in enumerate(self.configs)}
        sampler = optuna.samplers.TPESampler(
            seed=self.seed, n_startup_trials=STARTUP, constant_liar=True
        )
        self.study = optuna.create_study(direction="minimize", sampler=sampler)
        self.space: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.CategoricalDistribution(range(len(found)))
            for name, found in self.values.items()
        }
        self.trials: dict[int, object] = {}

    def choose(self) -> int:
        for _ in range(TRIES):
            trial = self.study.ask(self.space)
            index = self.places.get(
                tuple(self.values[name][trial.params[name]] for name in self.names)
            )
            if index in self.unseen:
                self.trials[index] = trial
                return index
            self._answer(trial, None if index is None else self.told.get(index))
        index = self.random.choice(list(self.unseen))
        self.study.enqueue_trial(self._params(index))
        self.trials[index] = self.study.ask(self.space)
        return index

    def learn(self, index: int, value: float | None) -> None:
        trial = self.trials.pop(index, None)
        if trial is None:
            self.study.enqueue_trial(self._params(index))
            trial = self.study.ask(self.space)
        self._answer(trial, value)

    def _answer(self, trial, value: float | None) -> None:
        self.study.tell(trial, self._worst() if value is None else value)

    def _worst(self) -> float:
        return PENALTY * max(
            (value for value in self.told.values() if value is not None), default=1e6
        )

    def _params(self, index: int) -> dict[str, int]:
        return {name: self.values[name].index(self.configs[index][name]) for name in self.names}

    def _key(self, config) -> tuple:
        return tuple(config[name] for name in self.names)
