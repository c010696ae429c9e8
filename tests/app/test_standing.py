"""What keeps every job from being done is said on every page, and a card that cannot be used takes no page along."""

import json

import pytest
import streamlit as st

from tests.app.pages import opened, texts
from tests.ui import examples
from tileviz.engine import requests
from tileviz.engine.processes import starts
from tileviz.records import Device

PAGES = ("", "sweep", "codeview", "system")
OLD = Device("cuda:0", "GTX 1080", "sm_61", {"compute_capability": "6.1"}, unusable="no code for sm_61")


@pytest.fixture
def with_old_card(monkeypatch):
    monkeypatch.setattr(requests, "local_devices", lambda: [OLD, examples.CPU])
    st.cache_resource.clear()


@pytest.mark.parametrize("page", PAGES)
def test_every_page_says_what_kills_the_engine_and_which_setting_is_wrong(store, monkeypatch, with_old_card, page):
    (store.home / starts.FILE_NAME).write_text(json.dumps({"count": 3, "pid": 1, "said": "no target 'sm_61'"}))
    monkeypatch.setenv("TILEVIZ_COMPILE_WORKERS", "many")
    app = opened(page)
    said = [error.value.replace("\\", "") for error in app.error]
    assert said[0] == "TILEVIZ_COMPILE_WORKERS is 'many'; give a whole number from 1 to 1,024, or unset it"
    assert said[1].startswith("the engine does not stay alive: no target 'sm_61'; ") and len(said) == 2, said


def test_the_system_page_lists_a_card_that_cannot_be_used_with_its_reason(with_old_card):
    app = opened("system")
    assert "No kernel runs here: no code for sm\\_61." in texts(app) and not app.error
    assert [button.key for button in app.button if button.key.startswith("measure_")] == ["measure_cpu"]


def test_the_landing_page_starts_at_the_first_device_that_can_be_used(with_old_card):
    app = opened()
    assert not app.error and "GEMM on cpu" in texts(app)
