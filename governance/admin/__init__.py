"""The admin pages of scopes and governance."""

from __future__ import annotations

from governance.admin import access, accounts, erasing, review

__all__ = ["access", "accounts", "erasing", "review"]
