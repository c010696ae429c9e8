"""What is installed, what is missing, and the environment for TileLang."""

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from tileviz.compiler import toolchain


def test_versions_name_tools_and_packages_and_none_for_what_is_missing():
    found = toolchain.versions()
    assert found["tilelang"] and found["torch"]
    assert {"NVRTC", "nvcc", "cuobjdump", "nvdisasm", "C++ compiler", "driver"} <= set(found)
    assert all(version is None or version[0].isdigit() for version in found.values()), found


def test_on_a_machine_with_nothing_every_problem_has_its_line(no_tools, tmp_path):
    found = {problem.name: problem for problem in toolchain.problems(tmp_path)}
    assert {"C++ compiler", "NVRTC", "nvcc", "nvdisasm"} <= set(found)
    assert found["C++ compiler"].blocks and not found["NVRTC"].blocks
    assert all(problem.line and problem.needed_for for problem in found.values())


def test_without_a_compiler_nothing_runs_and_the_reason_says_what_mends_it(no_tools):
    assert toolchain.why_nothing_runs() == "no C++ compiler: apt-get install g++, or set CXX"


def test_a_cxx_that_names_nothing_is_a_problem_of_cxx(monkeypatch, tmp_path):
    monkeypatch.setenv("CXX", "/nowhere/g++")
    (problem,) = [each for each in toolchain.problems(tmp_path) if each.name == "C++ compiler"]
    assert "/nowhere/g++" in problem.line


def fake_nvml(monkeypatch, cuda: int | None):
    """A driver that runs this CUDA (13000), or none."""

    class NVMLError(Exception):
        pass

    def init():
        if cuda is None:
            raise NVMLError("Driver Not Loaded")

    fake = types.SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=init,
        nvmlShutdown=lambda: None,
        nvmlSystemGetCudaDriverVersion=lambda: cuda,
        nvmlSystemGetDriverVersion=lambda: "570.12",
    )
    monkeypatch.setitem(sys.modules, "pynvml", fake)


def test_a_driver_older_than_the_toolkit_is_a_problem(monkeypatch, tmp_path):
    fake_nvml(monkeypatch, 12080)
    assert toolchain.driver() == ("570.12", "12.8")
    (problem,) = [each for each in toolchain.problems(tmp_path) if each.name == "NVIDIA driver"]
    assert "580" in problem.line and "570.12" in problem.line


@pytest.mark.parametrize("cuda", [13000, 13050, None])
def test_a_driver_of_the_same_major_version_or_none_is_no_problem(monkeypatch, tmp_path, cuda):
    fake_nvml(monkeypatch, cuda)
    assert not [each for each in toolchain.problems(tmp_path) if each.name == "NVIDIA driver"]


def test_a_missing_nvml_package_means_no_driver_is_seen(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert toolchain.driver() == (None, None)


def test_the_cache_tag_is_a_folder_name_that_follows_the_compiler(monkeypatch, tmp_path):
    tag = toolchain.cache_tag()
    assert "/" not in tag and " " not in tag and tag == toolchain.cache_tag()
    other = tmp_path / "other-g++"
    other.write_text("#!/bin/sh\nsleep 60\n")
    other.chmod(0o755)
    monkeypatch.setenv("CXX", str(other))
    assert toolchain.cache_tag() != tag, "and a compiler that sleeps is not asked"


def test_tilelang_gets_a_cache_under_home_and_cuda_is_not_touched(monkeypatch, tmp_path):
    before = dict(os.environ)
    try:
        done = toolchain.configure_environment(tmp_path)
        assert Path(done["TILELANG_CACHE_DIR"]).parent == tmp_path
        assert os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] == "1"
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_a_cuda_home_of_the_user_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_HOME", "/opt/mine")
    before = dict(os.environ)
    try:
        toolchain.configure_environment(tmp_path)
        assert os.environ["CUDA_HOME"] == "/opt/mine"
    finally:
        os.environ.clear()
        os.environ.update(before)


def test_asking_for_versions_loads_neither_torch_nor_tilelang_nor_nvrtc():
    code = (
        "import pathlib, sys\nfrom tileviz.compiler import targets, toolchain, pipeline, runtime\n"
        "toolchain.versions(); toolchain.problems(pathlib.Path('.')); toolchain.cache_tag()\n"
        "assert not {'torch', 'tilelang', 'tvm', 'tvm_ffi'} & set(sys.modules), sorted(sys.modules)\n"
        "assert 'libnvrtc' not in open('/proc/self/maps').read()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
