"""Governance's actions; importing this package registers them."""

from __future__ import annotations

from governance.actions import access, audit, policy, preferences, proposals

__all__ = ["access", "audit", "policy", "preferences", "proposals"]
