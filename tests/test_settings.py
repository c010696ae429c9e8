"""Every setting of the environment is checked before anything is done with it."""

import pytest

from tests.conftest import tileviz
from tileviz import settings
from tileviz.engine import client
from tileviz.errors import BadValue

WRONG = [
    ("TILEVIZ_ENGINE_IDLE", "soon", "give seconds from 0"),
    ("TILEVIZ_ENGINE_IDLE", "nan", "give seconds from 0"),
    ("TILEVIZ_ENGINE_IDLE", "-1", "give seconds from 0"),
    ("TILEVIZ_COMPILE_WORKERS", "two", "give a whole number from 1"),
    ("TILEVIZ_COMPILE_WORKERS", "0", "give a whole number from 1"),
    ("TILEVIZ_CUDA_COMPILER", "clang", "give nvrtc or nvcc"),
    ("TILEVIZ_RECORDED", "/nowhere/recorded.db", "give a file of recorded results, or none"),
]


@pytest.mark.parametrize(("name", "value", "words"), WRONG)
def test_a_setting_that_cannot_be_meant_is_one_sentence(monkeypatch, tmp_path, name, value, words):
    monkeypatch.setenv(name, value)
    (sentence,) = settings.problems()
    assert sentence.startswith(f"{name} is '{value}'; {words}") and sentence.endswith("or unset it")
    with pytest.raises(BadValue, match=name):
        client.ensure_engine(tmp_path)
    assert not list(tmp_path.iterdir()), "no engine was started"


def test_settings_that_can_be_meant_are_read(monkeypatch):
    for name, value in (("ENGINE_IDLE", "0.5"), ("COMPILE_WORKERS", "3"), ("CUDA_COMPILER", "NVCC"), ("RECORDED", "none")):
        monkeypatch.setenv(f"TILEVIZ_{name}", value)
    assert (settings.engine_idle_s(), settings.compile_workers(), settings.cuda_compiler()) == (0.5, 3, "nvcc")
    assert settings.problems() == []


def test_settings_that_are_empty_are_not_set(monkeypatch):
    for name in ("ENGINE_IDLE", "COMPILE_WORKERS", "CUDA_COMPILER", "RECORDED"):
        monkeypatch.setenv(f"TILEVIZ_{name}", "")
    assert (settings.engine_idle_s(), settings.compile_workers(), settings.cuda_compiler(), settings.problems()) == (600.0, None, "", [])


def test_a_command_refuses_it_and_doctor_names_it(home):
    wrong = {"TILEVIZ_COMPILE_WORKERS": "many"}
    done = tileviz("run", "vector_add", "--json", **wrong)
    assert done.status == 2 and "TILEVIZ_COMPILE_WORKERS is 'many'" in done.json["error"] == done.sentence.removeprefix("tileviz: ")
    report = tileviz("doctor", "--json", **wrong)
    assert report.status == 1 and report.json["settings"] == [done.json["error"]]
    assert not (home / "engine.lock").exists()
