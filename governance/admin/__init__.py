"""The admin pages of scopes and governance."""

from __future__ import annotations

from governance.admin import access, accounts, review

__all__ = ["access", "accounts", "review"]
