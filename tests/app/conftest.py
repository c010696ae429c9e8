"""Pages run without a browser, on a store of their own, as on a machine that has a CPU and nothing else."""

import pytest
import streamlit as st

from tests.app.pages import ROOT
from tests.ui import examples
from tileviz.compiler import toolchain
from tileviz.engine import client, requests
from tileviz.store import Store


@pytest.fixture(autouse=True)
def one_cpu(monkeypatch, tmp_path):
    """This machine is a CPU; nothing that a run needs is missing; no engine is ever started."""
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TILEVIZ_TOKEN", raising=False)
    monkeypatch.setattr(requests, "local_devices", lambda: [examples.CPU])
    monkeypatch.setattr(client, "ensure_engine", lambda home: None)
    monkeypatch.setattr(toolchain, "why_nothing_runs", lambda: "")
    monkeypatch.chdir(ROOT)
    st.cache_resource.clear()
    st.cache_data.clear()
    yield
    st.cache_resource.clear()


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "home")


@pytest.fixture
def with_h200(monkeypatch):
    """This machine has an H200 as well."""
    monkeypatch.setattr(requests, "local_devices", lambda: [examples.H200, examples.CPU])
    st.cache_resource.clear()
