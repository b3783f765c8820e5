from __future__ import annotations

from django.apps import AppConfig


class ScopesConfig(AppConfig):
    name = "scopes"
    verbose_name = "Domains and access"
