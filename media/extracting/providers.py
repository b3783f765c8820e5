"""Who can find what: providers register when their app starts, and none comes with a call."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from media.extracting.values import Capability, ExtractLimits, Finding
from media.sniffing import Sniffed


class Provider(Protocol):
    """Something that finds one kind of thing in files of some types."""

    capability: Capability

    def reads(self, sniffed: Sniffed) -> bool:
        """Whether files of this type are something for it."""
        ...

    def find(self, path: Path, sniffed: Sniffed, limits: ExtractLimits) -> Finding:
        """What it finds. Raises InvalidInputError for a damaged file, TooLargeError over a limit, and UnavailableError
        where it cannot work now: the file is then stored without what it would have found."""
        ...


_providers: list[Provider] = []


def register_provider(provider: Provider) -> None:
    """Add a provider; of two that read the same, the later one is asked."""
    _providers.insert(0, provider)


def provider_of(capability: Capability, sniffed: Sniffed) -> Provider | None:
    """Who finds this in files of this type; None where nobody does."""
    return next((each for each in _providers if each.capability is capability and each.reads(sniffed)), None)
