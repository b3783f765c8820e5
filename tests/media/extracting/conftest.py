"""An extraction of bytes under a name, and a place for readers of one test."""

from __future__ import annotations

import pytest

from media.extracting import ExtractLimits, extract, providers
from media.sniffing import sniff
from tests.media.pictures_and_sound import LIMITS, Reader


@pytest.fixture
def extracted(tmp_path):
    def call(name: str, content: bytes, wanted=(), limits: ExtractLimits = LIMITS):
        path = tmp_path / name
        path.write_bytes(content)
        return extract(path, sniff(name, path), wanted, limits)

    return call


@pytest.fixture
def register(monkeypatch):
    """Register a reader of that capability and finding."""
    monkeypatch.setattr(providers, "_providers", list(providers._providers))
    return lambda capability, finding: providers.register_provider(Reader(capability, finding))
