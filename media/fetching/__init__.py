"""Bringing files from http(s) addresses, and from no place that the operator did not open."""

from __future__ import annotations

from kernel.conf import conf
from media.fetching.addresses import host_refused
from media.fetching.bringing import Fetched, FetchLimits, fetch
from media.fetching.network import Network

__all__ = ["FetchLimits", "Fetched", "Network", "fetch", "host_refused", "limits"]


def limits() -> FetchLimits:
    """What the operator allows: nothing, until hosts are named."""
    given = conf()
    hosts = tuple(each.strip() for each in given.media_allowed_hosts.split(",") if each.strip())
    return FetchLimits(hosts, given.media_max_bytes, given.media_fetch_seconds)
