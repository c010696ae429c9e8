"""`kernels`: everything that can be asked for, from the kernels' own declarations."""

import json

from tileviz import kernels as registry
from tileviz.cli import main


def test_every_kernel_is_listed_with_its_fields_and_knobs(capsys):
    assert main(["kernels"]) == 0
    text = capsys.readouterr().out
    for name in registry.names():
        kernel = registry.kernel(name)
        assert f"{name}: " in text
        assert all(f" {f.name} " in text for f in (*kernel.fields, *kernel.knobs))


def test_the_json_document_holds_defaults_that_the_kernel_takes(capsys):
    assert main(["kernels", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["kernels"]
    assert [kernel["name"] for kernel in listed] == list(registry.names())
    for described in listed:
        kernel = registry.kernel(described["name"])
        kernel.problem({field["name"]: field["default"] for field in described["problem"]})
        kernel.config({knob["name"]: knob["default"] for knob in described["knobs"]})


def test_one_kernel_can_be_described_alone(capsys):
    assert main(["kernels", "gemm", "--json"]) == 0
    assert [kernel["name"] for kernel in json.loads(capsys.readouterr().out)["kernels"]] == ["gemm"]


def test_an_unknown_kernel_is_bad_usage_that_says_what_exists(capsys):
    assert main(["kernels", "gem", "--json"]) == 2
    said = capsys.readouterr()
    assert "no kernel 'gem'; known: " in said.err
    assert "vector_add" in json.loads(said.out)["error"]
