"""Governance's actions; importing this package registers them."""

from __future__ import annotations

from governance.actions import access, audit, policy, proposals

__all__ = ["access", "audit", "policy", "proposals"]
