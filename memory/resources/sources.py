"""What is handed to a store for import: an address, or a file of the program that calls."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernel.conf import conf
from kernel.errors import InvalidInputError, TooLargeError

Source = str | Path
_ADDRESSES = ("http://", "https://", "upload:")


def local_file(source: Source) -> Path | None:
    """The file that is meant; None for an address and for nothing. Only the program itself names files: no call that
    came over a door ends here. Raises InvalidInputError where there is none, TooLargeError where it is over the limit.
    """
    if isinstance(source, str) and (not source or source.startswith(_ADDRESSES)):
        return None
    path = Path(source).expanduser()
    if not path.is_file():
        raise InvalidInputError(
            f"source: {str(source)[:200]!r} is neither a file here nor an http(s) address.",
            errors=[{"loc": ["source"], "msg": "no such file", "type": "source"}],
        )
    if path.stat().st_size > conf().media_max_bytes:
        raise TooLargeError(f"The file is over {conf().media_max_bytes} bytes.")
    return path


def inlined(source: Source, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The source and the options of an import in which a local file is already read."""
    path = local_file(source)
    if path is None:
        return str(source), dict(options)
    return "", {"name": path.name, **options, "data": b64encode(path.read_bytes()).decode("ascii")}
