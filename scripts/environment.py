"""The caller's environment without the server's settings: tests and checks start from the defaults."""

from __future__ import annotations

import os

SETTINGS = {
    "ALLOWED_HOSTS",
    "BEHIND_PROXY",
    "CSRF_TRUSTED_ORIGINS",
    "DATABASE_URL",
    "DATA_DIR",
    "DEBUG",
    "DJANGO_SETTINGS_MODULE",
    "LOG_LEVEL",
    "PORT",
    "SECRET_KEY",
    "SECOND_FACTOR_REQUIRED",
    "SECURE_HSTS_SECONDS",
    "SECURE_SSL_REDIRECT",
    "SESSION_COOKIE_AGE",
    "SIGN_IN_FAILURES",
    "SIGN_IN_LOCK_MINUTES",
    "WORKERS",
}


def without_settings() -> dict[str, str]:
    """A copy of the environment that holds nothing the settings would read, as a value or as the path of a file."""
    return {name: value for name, value in os.environ.items() if not _is_setting(name)}


def _is_setting(name: str) -> bool:
    return name.startswith("SMARTBRAIN_") or name.removesuffix("_FILE") in SETTINGS
