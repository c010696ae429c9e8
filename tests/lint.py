"""One command for all that is checked without running the program: `python -m tests.lint`, or some of it by name.

Style and form by ruff, types by ty, who imports whom by tests/test_architecture.py. What each looks at stands in pyproject.toml.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TYPED = ("tileviz", "app.py", "pages", "benchmarks")


def checks() -> dict[str, list[str]]:
    """Each check by its name, with its command."""
    return {
        "style": ["ruff", "check", "--quiet", "."],
        "form": ["ruff", "format", "--check", "--quiet", "."],
        "types": ["ty", "check", "--quiet", "--output-format", "concise", "--error-on-warning", *TYPED],
        "imports": ["pytest", "-q", "-n0", "-p", "no:cacheprovider", "tests/test_architecture.py"],
    }


def main(names: list[str]) -> int:
    """Runs those of these names, or all, each to its end; 1 where one found something. Raises KeyError for a name that is none."""
    failed, known = [], checks()
    for name, command in {name: known[name] for name in names or known}.items():
        print(f"{name}: {' '.join(command)}", flush=True)
        if subprocess.run([sys.executable, "-m", *command], cwd=ROOT).returncode:
            failed.append(name)
    print(f"found something: {', '.join(failed)}" if failed else "nothing found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
