"""Every text of the registry: named once, read, stored, shown, counted, printed, compared and downloaded."""

import io
import zipfile
from dataclasses import replace

import pytest

from tests.ui import code_examples
from tileviz import kernels, lens, texts
from tileviz.cli import arguments, diff
from tileviz.cli.trials import emitted
from tileviz.engine.jobs.compile import counted, stored_code
from tileviz.errors import UnknownName
from tileviz.lens import classes
from tileviz.lens import diff as difference
from tileviz.lens.opening import opening
from tileviz.records import Artifact, Trial
from tileviz.store import Store
from tileviz.store.artifacts import file_names
from tileviz.texts.base import Text
from tileviz.ui.codeview import panes
from tileviz.ui.codeview import texts as views
from tileviz.ui.parts import code

GEMM, MADE = kernels.kernel("gemm"), code_examples.artifact()

TEXTS = [pytest.param(text, id=f"{text.name}-{text.language}") for text in texts.texts()]

CONTENT = "one = 1\nanother = 2"

each = pytest.mark.parametrize("text", TEXTS)


def artifact_with(text: Text, content: str = CONTENT) -> Artifact:
    """A GEMM's artifact of the text's target, with this content under its name."""
    made = MADE
    if text.targets == "cpu":
        made = replace(made, target="cpu", source_language="c", ptx=None, sass=None, lines={}, cubin=None)
    if text.name in texts.FIELDS:
        return replace(made, **{text.name: content})
    return replace(made, more={text.name: content})


@each
def test_its_names_are_its_own(text):
    others = [other for other in texts.texts() if other is not text]
    assert (text.title, text.file, text.extension) not in [(o.title, o.file, o.extension) for o in others]
    assert text.file not in [other.file for other in others] and text.title not in [other.title for other in others]
    assert text.name.isidentifier() and text.name not in ("cubin", "more", "lines", "missing", "cuda")


@each
def test_one_language_has_one_reader(text):
    assert texts.readers()[text.language] == text.reader
    assert text.reader.classes <= set(classes.NAMES)
    assert (text.language in lens.LANGUAGES) == bool(text.reader.classes)


@each
def test_a_text_that_is_no_field_says_how_it_is_made(text):
    assert text.name in texts.FIELDS or text.make is not None
    assert not text.after or text.make is not None


@each
def test_it_is_shown_line_for_line_and_opens_at_a_line_of_it(text):
    content = texts.content(MADE, text.name) or "nothing to see\n\n    here  \n"
    assert text.shown(content).count("\n") == content.count("\n")
    assert 1 <= opening(content, text.language) <= content.count("\n") + 1


@each
def test_a_listing_of_it_is_the_text_and_counts_what_it_lists(text):
    if not text.reader.classes:
        pytest.skip("it has no instructions")
    content = texts.content(MADE, text.name) or ""
    read = lens.listing(content, text.language)
    assert "\n".join(line.text for line in read.lines) == content
    assert lens.counts(content, text.language) == read.counts and set(read.counts) == text.reader.classes


@each
def test_it_is_counted_where_it_has_instructions(text):
    content = texts.content(MADE, text.name)
    found = counted(artifact_with(text, content or "x")).instructions
    assert (text.name in found) == bool(text.reader.classes) == (text.name in texts.counted())


@each
def test_it_comes_back_from_the_store(text, tmp_path):
    made, store = artifact_with(text), Store(tmp_path)
    store.save_artifact(made)
    again = store.artifact(made.key)
    assert texts.content(again, text.name) == CONTENT
    assert (store.files.folder(made.key) / text.file).is_file() and file_names(made.source_language)[text.name] == text.file


@each
def test_the_code_page_offers_it_and_shows_it_or_why_not(text):
    made = artifact_with(text)
    assert text.title in views.titles(made) and text.title in views.there(made)
    shown = views.view(made, GEMM, text.title)
    assert (shown.title, shown.language, shown.missing) == (text.title, text.language, "") and shown.text is not None
    if text.name not in ("program", "source"):
        lost = replace(made, more={}, missing={text.name: "a tool is missing"}, **({text.name: None} if text.name in texts.FIELDS else {}))
        assert views.view(lost, GEMM, text.title).missing == "a tool is missing"


@each
def test_a_step_of_the_full_screen_reaches_it(text, monkeypatch):
    monkeypatch.setattr(panes.st, "session_state", {})
    titles = views.there(artifact_with(text))
    before = titles[titles.index(text.title) - 1]
    panes.next_text("right", titles, before)(1)
    assert panes.st.session_state["right"] == text.title


@each
def test_it_is_downloaded_under_its_own_name_alone_and_in_the_zip(text):
    made = artifact_with(text)
    name = views.file_name(made, GEMM, text.title)
    assert name.endswith(f".{text.extension}") and views.whole(made, GEMM, text.title) == CONTENT
    assert zipfile.ZipFile(io.BytesIO(views.archive(made, GEMM))).read(name).decode() == CONTENT


@each
def test_a_command_prints_it(text):
    if text.name == "program":
        pytest.skip("the kernel's own file is printed by no command")
    made, trial = artifact_with(text), Trial("t", "gemm", {}, {}, "sm_90a", None, "ok")
    assert text.name in arguments.EMITS and emitted(trial, made, text.name) == CONTENT
    assert diff._language(text.name, [made]) == text.language


@each
def test_two_of_it_are_compared(text):
    found = difference.diff(CONTENT, "one = 1\nanother = 3", text.language)
    assert found.counts() == {"same": 1, "changed": 1, "removed": 0, "added": 0}
    assert difference.diff("one  line", "one line", text.language).counts()["same"] == bool(text.reader.names)


@each
def test_explore_offers_it_where_it_has_instructions(text):
    offered = code.texts_of(artifact_with(text), GEMM)
    assert (text.title in offered) == bool(text.reader.classes)


def test_an_artifact_from_before_a_text_is_compiled_again(monkeypatch, tmp_path):
    """A text that joins the registry is made for what is stored already, when it is asked for."""
    later = replace(texts.named("sass"), name="later", title="Later", extension="later", file="kernel.later")
    request = type("Request", (), {"key": MADE.key, "kernel": "gemm", "config": {}})
    store, told = Store(tmp_path), dict.fromkeys(texts.lacking(MADE), "made before these texts")
    store.save_artifact(replace(MADE, missing=told))
    assert stored_code(store, request) is not None
    known = texts.texts()
    monkeypatch.setattr(texts, "texts", lambda: (*known, later))
    assert texts.lacking(replace(MADE, missing=told)) == ["later"] and stored_code(store, request) is None
    store.save_artifact(replace(MADE, missing={**told, "later": "nvdisasm not found"}))
    assert stored_code(store, request) is not None, "why it is missing is known"


def test_a_name_that_is_none_says_what_there_is():
    with pytest.raises(UnknownName, match="no text 'sas'; known: ir, "):
        texts.named("sas")
