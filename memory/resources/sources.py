"""What is handed to a store for import: an address, or a file of the program that calls."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernel.conf import conf
from kernel.errors import InvalidInputError, TooLargeError
from kernel.text import is_address

Source = str | Path


def local_file(source: Source) -> Path | None:
    """The file that is meant; None for an address and for nothing. Only the program itself names files: no call that
    came over a door ends here. Raises InvalidInputError where there is none, TooLargeError where it is over the limit.
    """
    if not isinstance(source, (str, Path)):
        raise _refused(
            f"source: give an http(s) address or the path of a file, no {type(source).__name__}; text goes to "
            "options.text, bytes go in base64 to options.data.",
            "neither text nor a path",
        )
    if isinstance(source, str) and (not source or is_address(source) or source.startswith("upload:")):
        return None
    path = Path(source)
    try:
        path = path.expanduser()
        is_there = path.is_file()
    except (OSError, RuntimeError):  # too long for a name, or of a user whom nobody knows
        is_there = False
    if not is_there:
        raise _refused(
            f"source: {str(source)[:200]!r} is neither a file here nor an http(s) address; text goes to options.text.",
            "no such file",
        )
    if path.stat().st_size > conf().media_max_bytes:
        raise TooLargeError(f"The file is over {conf().media_max_bytes} bytes.")
    return path


def _refused(message: str, fault: str) -> InvalidInputError:
    return InvalidInputError(message, errors=[{"loc": ["source"], "msg": fault, "type": "source"}])


def inlined(source: Source, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The source and the options of an import in which a local file is already read."""
    path = local_file(source)
    if path is None:
        return str(source), dict(options)
    return "", {"name": path.name, **options, "data": b64encode(path.read_bytes()).decode("ascii")}
