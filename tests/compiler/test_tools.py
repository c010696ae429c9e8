"""Tools are found where they are, and a missing one names the line that gets it."""

import pytest

from tileviz.compiler import tools
from tileviz.errors import ToolMissing


def executable(path, text="#!/bin/sh\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def toolkit(root, version: int):
    """A CUDA root with complete headers and NVRTC of a major version."""
    (root / "include/cuda/std").mkdir(parents=True)
    (root / "include/cuda.h").write_text(f"#define CUDA_VERSION {version}\n")
    for name in ("cuda_fp16.h", "cuda/std/cstdint"):
        (root / "include" / name).touch()
    (root / "lib").mkdir()
    (root / f"lib/libnvrtc.so.{version // 1000}").touch()
    return root


def test_cuda_home_comes_first(monkeypatch, tmp_path):
    mine = executable(tmp_path / "cuda/bin/nvdisasm")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    assert tools.cuda_tool("nvdisasm") == mine


def test_a_shim_on_the_path_leads_to_the_toolkit_behind_it(monkeypatch, tmp_path):
    executable(tmp_path / "real/bin/nvcc")
    executable(tmp_path / "real/bin/cuobjdump")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/nvcc").symlink_to(tmp_path / "real/bin/nvcc")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(tools, "_wheel_roots", tuple)
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    assert tools.cuda_tool("cuobjdump") == tmp_path / "real/bin/cuobjdump"


@pytest.mark.parametrize(
    "name, line", [("nvcc", "pip install nvidia-cuda-nvcc"), ("nvdisasm", "pip install nvidia-cuda-nvdisasm"), ("cuobjdump", "cuobjdump")]
)
def test_a_missing_cuda_tool_names_the_line_that_gets_it(no_tools, name, line):
    assert tools.cuda_tool(name) is None
    with pytest.raises(ToolMissing, match=line):
        tools.require(name)


def test_no_cxx_names_the_package(no_tools):
    with pytest.raises(ToolMissing, match="apt-get install g\\+\\+"):
        tools.require_cxx("build")


@pytest.mark.parametrize("named", ["/nowhere/g++", "g++ -O2"])
def test_a_cxx_that_is_no_executable_is_named(monkeypatch, named):
    monkeypatch.setenv("CXX", named)
    assert tools.cxx() is None
    with pytest.raises(ToolMissing, match="CXX is"):
        tools.require_cxx("build")


def test_cxx_is_respected(monkeypatch, tmp_path):
    mine = executable(tmp_path / "my-g++")
    monkeypatch.setenv("CXX", str(mine))
    assert tools.require_cxx("build") == mine


def test_nvrtc_takes_the_headers_beside_it(monkeypatch, tmp_path):
    old, new = toolkit(tmp_path / "old", 12080), toolkit(tmp_path / "new", 13050)
    monkeypatch.setattr(tools, "cuda_roots", lambda: (new, old))
    assert tools.nvrtc().includes == (new / "include",)
    assert tools.nvrtc_version() == "13.5"


def test_a_wheel_library_without_headers_takes_those_of_a_toolkit_of_the_same_major_version(monkeypatch, tmp_path):
    wheel, old, new = tmp_path / "wheel", toolkit(tmp_path / "old", 12080), toolkit(tmp_path / "new", 13000)
    (wheel / "lib").mkdir(parents=True)
    (wheel / "lib/libnvrtc.so.13").touch()
    (wheel / "lib/libnvrtc-builtins.so.13.5").touch()
    monkeypatch.setattr(tools, "cuda_roots", lambda: (wheel, old, new))
    found = tools.nvrtc()
    assert (found.library, found.includes) == (wheel / "lib/libnvrtc.so.13", (new / "include",))
    assert tools.nvrtc_version() == "13.5"


def test_headers_of_another_major_version_are_refused(monkeypatch, tmp_path):
    wheel, old = tmp_path / "wheel", toolkit(tmp_path / "old", 12080)
    (wheel / "lib").mkdir(parents=True)
    (wheel / "lib/libnvrtc.so.13").touch()
    monkeypatch.setattr(tools, "cuda_roots", lambda: (wheel, old))
    with pytest.raises(ToolMissing, match="CUDA 13 headers"):
        tools.nvrtc()
    assert tools.nvrtc_version() is None


@pytest.mark.parametrize(
    "said, version",
    [
        ("nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.5, V13.5.37\n", "13.5.37"),
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022\n", "12.2.0"),
        ("g++ (GCC) 14.1.1 20240522 (Red Hat 14.1.1-4)\n", "14.1.1"),
        ("clang version 17.0.6\nTarget: x86_64\n", "17.0.6"),
        ("hello", None),
    ],
)
def test_a_version_is_read_from_what_a_tool_prints(said, version):
    assert tools.parse_version(said) == version


def test_the_identity_of_a_tool_changes_with_it_and_runs_nothing(tmp_path):
    tool = executable(tmp_path / "tool", "#!/bin/sh\nsleep 60\n")
    before = tools.identity(tool)
    assert before.startswith("tool-") and tools.identity(tool) == before
    tool.write_text("#!/bin/sh\nsleep 6000\n")
    assert tools.identity(tool) != before
    assert tools.identity(None) == "none"


def test_places_named_from_here_are_whole_for_a_process_in_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mycxx").write_text("#!/bin/sh\n")
    (tmp_path / "mycxx").chmod(0o755)
    for name, value in {"CXX": "./mycxx", "PATH": "bin:/usr/bin", "CUDA_HOME": "cuda", "TMPDIR": "/tmp"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    here = str(tmp_path)
    assert tools.from_here() == {"CXX": f"{here}/mycxx", "PATH": f"{here}/bin:/usr/bin", "CUDA_HOME": f"{here}/cuda", "TMPDIR": "/tmp"}
    assert tools.cxx() == tmp_path / "mycxx"
    monkeypatch.setenv("CXX", "clang++")
    assert "CXX" not in tools.from_here(), "a name is looked up on PATH"
