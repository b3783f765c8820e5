"""Asking a document store over HTTP: one POST of the plan, bounded in time and size, that never raises."""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import httpx

from kernel.errors import InvalidInputError
from media.contracts.retrieval import EvidencePack, RetrievalPlan
from memory.resources.client import FALLBACK, empty_pack
from memory.resources.reply import read_reply

_OK = 200


@dataclass(frozen=True, slots=True)
class HttpStore:
    """Where a document store is and how far we go with it. `timeout_seconds` is for the whole exchange."""

    url: str
    token: str = ""
    timeout_seconds: float = 2.0
    max_bytes: int = 8_388_608

    def __repr__(self) -> str:
        return f"HttpStore({self.url!r})"


class _UnusableError(Exception):
    """The answer cannot be used; the message says why."""


class HttpClient:
    """A document store that speaks `/v1/retrieve`. Whatever goes wrong becomes an empty pack with a warning."""

    def __init__(self, store: HttpStore, scope_filter: Literal["closed", "warn"] = "closed") -> None:
        self._store = store
        self._scope_filter = scope_filter
        self._trusted = _trusted()  # before the clock of an exchange starts

    def retrieve(self, plan: RetrievalPlan) -> EvidencePack:
        """Evidence for the plan."""
        started = time.monotonic()
        try:
            body = self._exchange(plan, started + self._store.timeout_seconds)
            return read_reply(body, plan, self._scope_filter, _since(started))
        except (httpx.TimeoutException, TimeoutError):
            warning = f"document store timeout after {self._store.timeout_seconds:g} s: {FALLBACK}"
            return empty_pack(plan, "timeout", warning, took_ms=_since(started))
        except _UnusableError as exc:
            why = str(exc)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as exc:
            why = f"not reachable ({type(exc).__name__})"
        except InvalidInputError as exc:
            why = f"bad reply ({exc.message})"
        except ValueError:
            why = "bad reply (not JSON)"
        return empty_pack(plan, "error", f"document store {why}: {FALLBACK}", took_ms=_since(started))

    def _exchange(self, plan: RetrievalPlan, deadline: float) -> bytes:
        """The body of the reply. A redirect is refused, since it would carry the plan and the key elsewhere."""
        headers = {"content-type": "application/json", "accept": "application/json", "accept-encoding": "identity"}
        if self._store.token:
            headers["authorization"] = f"Bearer {self._store.token}"
        content = plan.model_dump_json(by_alias=True).encode()
        with (
            httpx.Client(
                timeout=self._store.timeout_seconds, verify=self._trusted, follow_redirects=False, trust_env=False
            ) as client,
            client.stream("POST", self._store.url, content=content, headers=headers) as response,
        ):
            if response.status_code != _OK:
                raise _UnusableError(f"answered {response.status_code}")
            # Compressed, a small reply could become a huge one before we see its size.
            if response.headers.get("content-encoding", "identity") != "identity":
                raise _UnusableError("sent a compressed reply that nobody asked for")
            return self._bounded(response, deadline)

    def _bounded(self, response: httpx.Response, deadline: float) -> bytes:
        body = bytearray()
        for chunk in response.iter_raw():
            body += chunk
            if len(body) > self._store.max_bytes:
                raise _UnusableError(f"sent more than {self._store.max_bytes} bytes")
            # Each read has its own timeout, so a store that drips is stopped here.
            if time.monotonic() > deadline:
                raise TimeoutError
        return bytes(body)


@lru_cache(maxsize=1)
def _trusted() -> ssl.SSLContext:
    """The authorities that we trust, read once: reading them takes longer than most exchanges."""
    return httpx.create_ssl_context(trust_env=False)


def _since(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 3)
