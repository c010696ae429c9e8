"""Requests from loose words, as a test says them: each word goes into the record that it belongs to."""

from dataclasses import fields

from tileviz.engine import requests
from tileviz.engine.options import Measuring, Where
from tileviz.engine.sweeps import request as sweeps
from tileviz.engine.sweeps.request import Given, Searching


def resolve(kernel, problem=None, config=None, *, save=None, **words):
    """`requests.resolve`, with the fields of Where and Measuring as words."""
    found = requests.resolve(kernel, problem, config, **sorted_into(words, where=Where, measuring=Measuring))
    return requests.saving(found, save)


def resolve_sweep(kernel, problems=None, values=None, **words):
    """`request.resolve_sweep`, with the fields of its records as words."""
    records = {"given": Given, "searching": Searching, "where": Where, "measuring": Measuring}
    return sweeps.resolve_sweep(kernel, problems, values, **sorted_into(words, **records))


def sorted_into(words, **records):
    """The words, those that are a field of one of the records put into it."""
    rest, out = dict(words), {}
    for name, record in records.items():
        own = {f.name: rest.pop(f.name) for f in fields(record) if f.name in rest}
        out[name] = record(**own)
    return {**out, **rest}
