"""Compiles a tile program for a target: lower, compile, disassemble. What cannot be had is named in the artifact, not lost."""

import dataclasses
import time
from collections.abc import Callable

from tileviz import texts
from tileviz.compiler import failures, host, lowering, machine_code, targets
from tileviz.compiler.lowering import Lowered
from tileviz.compiler.made import Making, Texts
from tileviz.compiler.nvrtc import Compiled
from tileviz.compiler.resources import cpu_resources, cuda_resources
from tileviz.errors import ToolMissing
from tileviz.records import Artifact, Resources, Target

PHASES = ("lower", "compile", "disassemble")


def compile_program(
    build: Callable,
    target: Target,
    pass_configs: dict | None = None,
    *,
    key: str,
    until: str = "all",
    executable: bool = False,
    report: Callable[[str], None] = lambda phase: None,
    on_source: Callable[[Artifact], None] = lambda artifact: None,
) -> Artifact:
    """The artifact of `build()`, a T.prim_func, for a target.

    `report` is told each phase as it starts, `on_source` an artifact with the CUDA or C text as soon as there is one, where
    `until="source"` stops.
    `executable=True` also leaves the program ready to run in TileLang's cache, with the very machine code of the artifact, where
    `runtime.executable` takes it from (CUDA; the CPU target always does). Needs no GPU.

    Raises Unsupported for a dtype the target lacks; BadValue for a pass config no compiler takes; CompileFailed with the tool's own text;
    ToolMissing when the CPU target has no C++ compiler, or an executable cannot be made. A CUDA compiler or disassembler that is missing
    where only texts are wanted is told in `Artifact.missing`.
    """
    machine_code.compiler_flags(pass_configs or {})
    run = _Run(target, dict(pass_configs or {}), key, report, on_source)
    with failures.by_their_cause():
        if target.kind == "cpu":
            return run.cpu(build, until)
        if until == "source" or target.source_only:
            return run.source_only(build)
        return run.cuda_executable(build) if executable else run.cuda(build)


class _Run:
    """One compile: its clock, and the steps that the targets share."""

    def __init__(self, target: Target, pass_configs: dict, key: str, report, on_source) -> None:
        self.target = target
        self.pass_configs = pass_configs
        self.key = key
        self.report = report
        self.on_source = on_source
        self.seconds: dict[str, float] = {}
        self._phase = ""
        self._since = 0.0

    def cpu(self, build, until: str) -> Artifact:
        lowered = self._lower(build)
        if until == "source":
            return self._finish(self._texts(lowered))
        self._enter("compile")
        host.cpu_kernel(build(), self.pass_configs)
        return self._finish(self._texts(lowered), compiler=host.cpu_compiler())

    def source_only(self, build) -> Artifact:
        lowered = self._lower(build)
        why = targets.SOURCE_ONLY_NOTE if self.target.source_only else "only the source was asked for"
        return self._finish(self._texts(lowered), missing=dict.fromkeys(texts.compiled(), why))

    def cuda(self, build) -> Artifact:
        lowered = self._lower(build)
        try:
            compiled = self._compile(lowered.source)
        except ToolMissing as error:
            return self._finish(self._texts(lowered), missing=dict.fromkeys(texts.compiled(), error.message))
        return self._disassemble(lowered, compiled)

    def cuda_executable(self, build) -> Artifact:
        """TileLang lowers once and hands its text over in the middle; when its cache has the program already, `cuda` does it."""
        self._enter("lower")
        with lowering.translated():
            program = build()
        kernel, capture = host.cuda_kernel(program, self.target, self.pass_configs, self._hand_over)
        host.leave_ready(self.key, kernel)
        if capture.compiled is None or kernel.artifact is None:
            return self.cuda(build)
        lowered = lowering.described(program, capture.raw, kernel.artifact.device_mod)
        if lowering.watched():  # TileLang hands its own lowering over without the IR between its passes
            lowered = dataclasses.replace(lowered, after=lowering.lower(build, self.target, self.pass_configs).after)
        return self._disassemble(lowered, capture.compiled)

    def _hand_over(self, source: str) -> Compiled:
        self.on_source(self._texts(Lowered(source, ())))
        return self._compile(source)

    def _lower(self, build) -> Lowered:
        self._enter("lower")
        lowered = lowering.lower(build, self.target, self.pass_configs)
        self.on_source(self._texts(lowered))
        return lowered

    def _compile(self, source: str) -> Compiled:
        self._enter("compile")
        return machine_code.compile_cuda(source, self.target, self.pass_configs)

    def _disassemble(self, lowered: Lowered, compiled: Compiled) -> Artifact:
        self._enter("disassemble")
        known = self._texts(lowered, cuda_resources(lowered, compiled.log, self.target))
        made, making = Texts(), Making(lowered, compiled)
        for text in texts.of("cuda"):
            if text.made == "compiled":
                made.add(text, making)
        found = with_contents(known, made)
        return self._finish(found, cubin=compiled.cubin, compiler=compiled.compiler)

    def _texts(self, lowered: Lowered, resources: Resources | None = None) -> Artifact:
        """The artifact with what lowering alone gives."""
        language = "c" if self.target.kind == "cpu" else "cuda"
        known = resources or (cpu_resources(lowered.source) if language == "c" else cuda_resources(lowered, "", self.target))
        lines = {"source": lowered.lines} if any(lowered.lines) else {}
        artifact = Artifact(
            self.key, self.target.name, lowered.source, language, ir=lowered.ir, program=lowered.program, resources=known, lines=lines,
            tensors=lowered.tensors,
        )  # fmt: skip
        made = Texts()
        for text in texts.of(language):
            if text.made == "lowered" and text.make:
                made.add(text, Making(lowered))
        return with_contents(artifact, made)

    def _enter(self, phase: str) -> None:
        self._leave()
        self._phase, self._since = phase, time.perf_counter()
        self.report(phase)

    def _leave(self) -> None:
        if self._phase:
            self.seconds[self._phase] = self.seconds.get(self._phase, 0.0) + time.perf_counter() - self._since

    def _finish(self, artifact: Artifact, missing: dict[str, str] | None = None, **more) -> Artifact:
        self._leave()
        missing = {**artifact.missing, **(missing or {})}
        return dataclasses.replace(artifact, seconds=dict(self.seconds), missing=missing, **more)


def with_contents(artifact: Artifact, made: Texts) -> Artifact:
    """The artifact with these texts: in their fields, or in `more`."""
    own = {name: content for name, content in made.contents.items() if name in texts.FIELDS}
    more = {name: content for name, content in made.contents.items() if name not in texts.FIELDS}
    return dataclasses.replace(
        artifact, **own, more={**artifact.more, **more}, missing={**artifact.missing, **made.missing},
        lines={**artifact.lines, **made.lines},
    )  # fmt: skip
