"""Measurements that print ratios, each runnable alone with `--quick`."""

from __future__ import annotations
