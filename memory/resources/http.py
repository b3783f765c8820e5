"""Asking a document store over HTTP: one POST of the plan, bounded in time and size, that never raises."""

from __future__ import annotations

import ssl
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import httpx
from pydantic_core import from_json, to_json

from kernel.errors import InvalidInputError
from media.contracts.retrieval import EvidencePack, RetrievalPlan
from memory.resources.client import FALLBACK, Imported, Imports, empty_pack, not_imported
from memory.resources.reply import read_reply
from memory.resources.sources import Source, local_file

_RETRIEVED = (200,)
_IMPORTED = (200, 202)
_RETRIEVE_PATH, _MEDIA_PATH = "/retrieve", "/media"
IMPORT_SECONDS = 120.0  # for the whole exchange of an import


@dataclass(frozen=True, slots=True)
class HttpStore:
    """Where a document store is and how far we go with it. `timeout_seconds` is for the whole exchange."""

    url: str
    token: str = ""
    timeout_seconds: float = 2.0
    max_bytes: int = 8_388_608

    @property
    def media_url(self) -> str:
        """Where imports are posted: beside the address of retrieval."""
        return self.url.removesuffix("/").removesuffix(_RETRIEVE_PATH) + _MEDIA_PATH

    def __repr__(self) -> str:
        return f"HttpStore({self.url!r})"


class _UnusableError(Exception):
    """The answer cannot be used; the message says why."""


class HttpClient(Imports):
    """A document store that speaks `/v1/retrieve` and `/v1/media`. Whatever goes wrong becomes an empty pack, or an
    import that failed, with a warning."""

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

    def add(self, operation: str, source: Source, options: Mapping[str, Any], /, **beside: Any) -> Imported:
        """Hand the store a file as a form, or an address as JSON. What it refuses is an import that failed."""
        path = local_file(source)
        deadline = time.monotonic() + IMPORT_SECONDS
        try:
            if path is None:
                tree = {"operation": operation, "source": str(source), "options": dict(options), **beside}
                body = self._post(self._store.media_url, deadline, _IMPORTED, json=tree, headers=_keyed(beside))
            else:
                fields = {"operation": operation, "options": to_json(dict(options)).decode(), **_as_text(beside)}
                with path.open("rb") as file:
                    form = {"data": fields, "files": {"file": (path.name, file)}, "headers": _keyed(beside)}
                    body = self._post(self._store.media_url, deadline, _IMPORTED, **form)
            found = from_json(body)
            if isinstance(found, dict) and isinstance(found.get("status"), str):
                return found
            why = "bad reply (no status)"
        except (httpx.TimeoutException, TimeoutError):
            why = f"no answer within {IMPORT_SECONDS:g} s; it may still have been imported"
        except _UnusableError as exc:
            why = str(exc)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as exc:
            why = f"not reachable ({type(exc).__name__})"
        except ValueError:
            why = "bad reply (not JSON)"
        return not_imported("failed", f"document store {why}: {operation} failed")

    def _exchange(self, plan: RetrievalPlan, deadline: float) -> bytes:
        headers = {"content-type": "application/json"}
        content = plan.model_dump_json(by_alias=True).encode()
        return self._post(self._store.url, deadline, _RETRIEVED, content=content, headers=headers)

    def _post(self, url: str, deadline: float, good: Collection[int], **sent: Any) -> bytes:
        """The body of the reply. A redirect is refused, since it would carry what is sent and the key elsewhere."""
        headers = {**sent.pop("headers", {}), "accept": "application/json", "accept-encoding": "identity"}
        if self._store.token:
            headers["authorization"] = f"Bearer {self._store.token}"
        timeout = max(deadline - time.monotonic(), 0.001)
        with (
            httpx.Client(timeout=timeout, verify=self._trusted, follow_redirects=False, trust_env=False) as client,
            client.stream("POST", url, headers=headers, **sent) as response,
        ):
            if response.status_code not in good:
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


def _keyed(beside: Mapping[str, Any]) -> dict[str, str]:
    """The key as the header in which an older store looks for it."""
    key = beside.get("idempotency_key")
    return {"idempotency-key": key} if key else {}


def _as_text(beside: Mapping[str, Any]) -> dict[str, str]:
    """Further fields as those of a form: text as it is, the rest as JSON."""
    return {name: value if isinstance(value, str) else to_json(value).decode() for name, value in beside.items()}


def _since(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 3)
