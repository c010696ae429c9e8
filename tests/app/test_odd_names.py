"""The form of a kernel whose fields and knob are called like words of the page: `kernel`, `seed`, `at`."""

import pytest

from tests.app.pages import opened, texts
from tests.kernels.widened_here import widened  # noqa: F401

pytestmark = pytest.mark.usefixtures("widened")


def test_the_form_and_the_address_keep_the_kernel_apart_from_its_field_of_that_name():
    words = {"own-kernel": "tent", "own-seed": "7", "own-at": "512", "seed": "11"}
    app = opened(kernel="odd_names", **words)
    assert app.selectbox(key="kernel").value == "odd_names" and app.button_group(key="own-kernel").value == "tent"
    assert app.text_input(key="own-seed").value == "7" and app.text_input(key="seed").value == "11"
    assert app.button_group(key="own-at").value == "512" and not app.button(key="run").disabled
    assert "From the link" not in texts(app)
    app.text_input(key="own-seed").set_value("9").run()
    assert app.text_input(key="seed").value == "11" and not app.exception
