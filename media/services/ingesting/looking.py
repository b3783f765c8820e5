"""Looking into pictures, sound and video: what extraction finds, for the metadata and the sections of a document."""

from __future__ import annotations

from pathlib import Path

from kernel.conf import conf
from media.contracts.documents import DocumentOptions
from media.extracting import Capability, Extracted, ExtractLimits, extract
from media.sniffing import Sniffed


def look_into(path: Path, found: Sniffed, options: DocumentOptions) -> Extracted:
    """What is in the file. Words are looked for unless the caller wants none.

    Raises InvalidInputError for a damaged file, TooLargeError over a limit.
    """
    wanted = {Capability.OCR}
    wanted |= {Capability.CAPTION} if options.llm_caption else set()
    wanted |= {Capability.TRANSCRIPT} if options.transcribe else set()
    return extract(path, found, wanted, limits_now())


def limits_now() -> ExtractLimits:
    """What looking into one file may take, as the operator set it."""
    given = conf()
    return ExtractLimits(
        given.media_convert_seconds, given.media_convert_memory, given.media_max_pixels, given.media_max_seconds
    )


def said_in(extracted: Extracted) -> list[str]:
    """What was seen and said, sentence by sentence: the captions of a document."""
    return [*extracted.captions, *(each.text.strip() for each in extracted.segments if each.text.strip())]
