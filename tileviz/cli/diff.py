"""`diff`: the same text of two stored trials, changed counts first."""

import json

from tileviz import lens, texts
from tileviz.cli import tables, trials
from tileviz.cli.trials import emitted, field_of
from tileviz.errors import BadRequest
from tileviz.lens import diff as difference
from tileviz.records import Artifact, Trial
from tileviz.records_json import to_json
from tileviz.store import Store, StoreWithRecorded

MOST_CHANGES = 20


def diff(asked) -> int:
    """Compares one text of two trials. Raises BadRequest for an id that is not stored, Limitation
    where a text is missing."""
    store = StoreWithRecorded()
    first, second = (_trial(store, word) for word in (asked.first, asked.second))
    text = field_of(asked.emit)
    artifacts = [
        store.artifact(trial.artifact) if trial.artifact else None for trial in (first, second)
    ]
    left, right = (
        emitted(trial, artifact, text)
        for trial, artifact in zip((first, second), artifacts, strict=True)
    )
    language = _language(text, artifacts)
    found = difference.diff(left, right, language)
    if asked.json:
        print(json.dumps(document(first, second, text, language, left, right, found)))
        return 0
    print(heading(first, second, text, found))
    print(difference.unified(left, right, found.rows))
    return 0


def document(
    first: Trial,
    second: Trial,
    text: str,
    language: str,
    left: str,
    right: str,
    found: difference.Diff,
) -> dict:
    """The JSON document: which trials, what changed in config and resources, counts by class,
    opcodes, rows of each kind."""
    counted = language in lens.LANGUAGES
    return {
        "emit": text,
        "trials": [first.trial, second.trial],
        "targets": [first.target, second.target],
        "config": _differing(first, second),
        "resources": [to_json(trial.resources) for trial in (first, second)],
        "counts": [lens.counts(content, language) if counted else {} for content in (left, right)],
        "changes": [{**to_json(change), "words": change.words} for change in found.changes],
        "rows": found.counts(),
    }


def heading(first: Trial, second: Trial, text: str, found: difference.Diff) -> str:
    """What differs between the trials, then the changed counts."""
    lines = [
        f"{text} of {first.trial} ({first.kernel} on {first.target}) and {second.trial}"
        f" ({second.kernel} on {second.target})"
    ]
    lines += [f"  {name:<10} {a} -> {b}" for name, (a, b) in _differing(first, second).items()]
    before, after = tables.resources_text(first), tables.resources_text(second)
    lines += [f"  resources  {before}", f"         ->  {after}"] if before != after else []
    if found.is_same:
        return "\n".join([*lines, "  the same, up to the names of registers and labels"])
    words = [change.words for change in found.changes[:MOST_CHANGES]]
    more = len(found.changes) - len(words)
    lines += (
        [f"  counts     {', '.join(words)}" + (f" and {more} more" if more > 0 else "")]
        if words
        else []
    )
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.counts().items() if count)
    return "\n".join([*lines, f"  lines      {kinds}", ""])


def _differing(first: Trial, second: Trial) -> dict[str, list]:
    """Values of problem and config that are not the same: {"block_N": [128, 256]}."""
    ours, theirs = ({**trial.problem, **trial.config} for trial in (first, second))
    return {
        name: [ours.get(name), theirs.get(name)]
        for name in {**ours, **theirs}
        if ours.get(name) != theirs.get(name)
    }


def _trial(store: Store, word: str) -> Trial:
    trial = store.trial(word)
    if trial is None:
        recent = ", ".join(t.trial for t in store.trials(limit=5)) or "none yet"
        raise BadRequest(f"no trial '{word}' under {store.home}; the newest: {recent}")
    return trial


def _language(text: str, artifacts: list[Artifact | None]) -> str:
    languages = {artifact.source_language for artifact in artifacts if artifact}
    if text != "source":
        return texts.named(text).language
    if len(languages) > 1:
        trials.say(
            "one source is CUDA and the other is C for the CPU: their lines have little in common"
        )
    return "cuda" if "cuda" in languages else "c"
