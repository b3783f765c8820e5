"""What a host program gives in place of the environment, before the settings are read."""

from __future__ import annotations

given: dict[str, str] = {}
