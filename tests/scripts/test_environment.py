from __future__ import annotations

import re

from django.conf import settings

from scripts.environment import SETTINGS, without_settings


def test_it_works(monkeypatch):
    for name in ("DEBUG", "SECRET_KEY_FILE", "SMARTBRAIN_MAX_BODY_BYTES", "OTHER_FILE"):
        monkeypatch.setenv(name, "x")
    kept = without_settings()
    assert kept["OTHER_FILE"] == "x"
    assert not {"DEBUG", "SECRET_KEY_FILE", "SMARTBRAIN_MAX_BODY_BYTES"} & set(kept)


def test_every_setting_is_known():
    text = (settings.BASE_DIR / "smartbrain_site" / "settings.py").read_text("utf-8")
    read = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', text))
    assert len(read) > 8
    assert read <= SETTINGS
