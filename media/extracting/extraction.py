"""Asking every provider that is wanted and putting together what they find."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from kernel.errors import UnavailableError
from media.extracting.providers import provider_of, register_provider
from media.extracting.technical import BuiltIn
from media.extracting.values import FACTS, Capability, Extracted, ExtractLimits, Finding
from media.sniffing import Sniffed

# Which capabilities make sense of which class of file.
_FITTING = {
    "image": (Capability.OCR, Capability.CAPTION),
    "audio": (Capability.TRANSCRIPT,),
    "video": (Capability.TRANSCRIPT, Capability.CAPTION),
}
_MISSING = {
    Capability.OCR: "Nothing here reads the text of a picture.",
    Capability.CAPTION: "Nothing here describes pictures.",
    Capability.TRANSCRIPT: "Nothing here writes down speech.",
}

register_provider(BuiltIn())


def extract(path: Path, sniffed: Sniffed, wanted: Collection[Capability], limits: ExtractLimits) -> Extracted:
    """What is in the file at `path`. What nobody here can find is left out with a warning that says so.

    Raises InvalidInputError for a damaged file, TooLargeError over a limit.
    """
    findings = [_technical(path, sniffed, limits)]
    findings += [
        _found(capability, path, sniffed, limits)
        for capability in _FITTING.get(sniffed.media_type, ())
        if capability in wanted
    ]
    media = {**FACTS, "exif": {}}
    for finding in findings:
        media.update(finding.media)
    segments = sorted((each for found in findings for each in found.segments), key=lambda each: each.start_ms)
    return Extracted(
        media=media,
        description=next((found.description for found in findings if found.description), None),
        captions=tuple(caption for found in findings for caption in found.captions),
        segments=tuple(segments),
        text="\n".join(found.text for found in findings if found.text),
        warnings=tuple(dict.fromkeys(warning for found in findings for warning in found.warnings)),
    )


def _technical(path: Path, sniffed: Sniffed, limits: ExtractLimits) -> Finding:
    provider = provider_of(Capability.TECHNICAL, sniffed)
    if provider is not None:
        return provider.find(path, sniffed, limits)
    known = {"format": sniffed.mime.rpartition("/")[2].removeprefix("x-")}
    return Finding(media=known, warnings=(f"no_probe:Nothing here reads the technical data of {sniffed.mime}.",))


def _found(capability: Capability, path: Path, sniffed: Sniffed, limits: ExtractLimits) -> Finding:
    provider = provider_of(capability, sniffed)
    if provider is None:
        return Finding(warnings=(f"no_{capability.value}:{_MISSING[capability]}",))
    try:
        return provider.find(path, sniffed, limits)
    except UnavailableError as exc:
        return Finding(warnings=(f"{capability.value}_unavailable:{exc.message}",))
