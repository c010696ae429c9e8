"""One command for all that is checked without running the program: `python -m tests.lint`.

Style and form by ruff, types by ty, who imports whom by tests/test_architecture.py. What each looks at stands in pyproject.toml.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def checks() -> dict[str, list[str]]:
    """Each check by its name, with its command. The rooms whose types are checked are those that have no error left."""
    clean = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["tileviz"]["typed"]
    return {
        "ruff check": ["ruff", "check", "--quiet", "."],
        "ruff format": ["ruff", "format", "--check", "--quiet", "."],
        "types": ["ty", "check", "--quiet", "--output-format", "concise", "--error-on-warning", *clean],
        "imports": ["pytest", "-q", "-n0", "-p", "no:cacheprovider", "tests/test_architecture.py"],
    }


def main() -> int:
    """Runs them all, each to its end; 1 where one found something."""
    failed = []
    for name, command in checks().items():
        print(f"{name}: {' '.join(command)}", flush=True)
        if subprocess.run([sys.executable, "-m", *command], cwd=ROOT).returncode:
            failed.append(name)
    print(f"found something: {', '.join(failed)}" if failed else "nothing found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
