"""Looking into an office file before it is opened: it is an archive, and may be a bomb."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath

from kernel.errors import InvalidInputError, TooLargeError

_MEMBERS = 20_000
_RATIO = 200  # unfolded bytes for each stored one, over the whole file
_ARCHIVES = {
    ".zip",
    ".docx",
    ".xlsx",
    ".pptx",
    ".xlsm",
    ".docm",
    ".pptm",
    ".jar",
    ".gz",
    ".bz2",
    ".xz",
    ".7z",
    ".rar",
    ".tar",
}


def check_archive(path: Path, expanded: int) -> list[str]:
    """Refuse a file that is no archive or unfolds to more than `expanded` bytes; warn of archives inside, which are not
    opened. Raises InvalidInputError or TooLargeError."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as exc:
        raise InvalidInputError("The file is damaged: its contents cannot be listed.") from exc
    total = sum(member.file_size for member in members)
    stored = max(1, path.stat().st_size)
    if len(members) > _MEMBERS or total > expanded or (total > 10_000_000 and total / stored > _RATIO):
        raise TooLargeError("The file unfolds to more than a document may hold.")
    if any(member.flag_bits & 1 for member in members):
        raise InvalidInputError("The file is protected by a password: take the protection away first.")
    inside = sum(PurePosixPath(member.filename).suffix.lower() in _ARCHIVES for member in members)
    return [f"embedded_files_not_read:{inside}"] if inside else []
