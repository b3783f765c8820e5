"""Make `.venv` and install the pinned requirements, only where they changed since the last time.

Runs on the standard library alone: `python3 -m scripts.venv [--dev]`.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
PRODUCT = ["requirements.txt"]
TOOLS = ["requirements.txt", "requirements-s3.txt", "requirements-dev.txt"]
OLDEST = (3, 11)


def ensure(files: list[str]) -> None:
    """Have an environment with these requirement files installed. Raises SystemExit with what to do where it fails."""
    if sys.version_info < OLDEST:
        raise SystemExit(
            f"This is Python {sys.version.split()[0]}, and SmartBrain needs 3.11 or newer: set PYTHON=..."
        )
    stamp = VENV / f"installed-{files[-1]}.sha256"
    if PYTHON.exists() and stamp.exists() and stamp.read_text("utf-8") == _digest(files):
        return
    if not _works():
        print("Making the virtual environment .venv", flush=True)
        _create()
    print(f"Installing {files[-1]}: a minute or two, and only after it changed", flush=True)
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
    if subprocess.run([*pip, "install", "-qq", "-r", files[-1]], check=False, cwd=ROOT).returncode:
        raise SystemExit(f"Installing {files[-1]} failed: see pip's message above, and run the same command again.")
    stamp.write_text(_digest(files), "utf-8")
    if files == TOOLS:  # the tools bring the product's own requirements along
        (VENV / f"installed-{PRODUCT[-1]}.sha256").write_text(_digest(PRODUCT), "utf-8")


def _works() -> bool:
    if not PYTHON.exists():
        return False
    asked = [str(PYTHON), "-c", "import pip, sys; print(*sys.version_info[:2])"]
    answer = subprocess.run(asked, check=False, capture_output=True, text=True)
    return answer.returncode == 0 and tuple(map(int, answer.stdout.split())) >= OLDEST


def _create() -> None:
    try:
        venv.create(VENV, clear=VENV.exists() and not VENV.is_symlink(), with_pip=True, symlinks=True)
    except (subprocess.CalledProcessError, OSError) as exc:
        raise SystemExit(
            f"Could not make .venv ({exc}). On Debian and Ubuntu the package python3-venv may be missing."
        ) from exc


def _digest(files: list[str]) -> str:
    """Changes with the files and with the Python of the environment."""
    config = (VENV / "pyvenv.cfg").read_bytes()
    return hashlib.sha256(config + b"".join((ROOT / name).read_bytes() for name in files)).hexdigest()


if __name__ == "__main__":
    ensure(TOOLS if "--dev" in sys.argv[1:] else PRODUCT)
