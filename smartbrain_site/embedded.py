"""SmartBrain inside any Python program, on one SQLite file: no server, no network, no environment.

    from smartbrain_site import embedded

    with embedded.open("brain.sqlite3", domain="demo") as brain:
        brain.commit_turn(session_id="s1", turn_events={"messages": [{"role": "user", "content": "Hello"}]})
        found = brain.search_memory(session_id="s1", query="hello")["results"]

Every action is a method that takes the action's fields and answers plain JSON, as on every other door. A refusal is a
`kernel.errors.DomainError`, with the same stable `code`. One process works on one file; other processes may open the
same file at the same time. From async code, call in a thread: `await asyncio.to_thread(brain.call, "whoami")`.
"""

from __future__ import annotations

import fcntl
import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import django
from django.conf import settings

from kernel import actions
from kernel.context import KEY_RIGHTS, Ctx, Door
from kernel.errors import ConflictError, DomainError, ForbiddenError
from smartbrain_site import host

if TYPE_CHECKING:
    from scopes.selectors import Identity

Answer = dict[str, Any]
"""What an action answers, as plain JSON."""

SQLITE = "django.db.backends.sqlite3"


class Brain:
    """An open brain: call it from any thread; close it, or use it as a context manager."""

    def __init__(self, domain: str, principal: str) -> None:
        """`domain` is filled in where a call does not name one; `principal` is the name of who acts."""
        self.domain = domain
        self.principal = principal

    def call(self, action: str, /, **fields: Any) -> dict[str, Any]:
        """Perform the action with these fields and give its answer as plain JSON. Raises DomainError."""
        from governance import gate  # noqa: PLC0415  needs the apps loaded

        if "domain_id" in actions.get(action).input.model_fields:
            fields.setdefault("domain_id", self.domain)
        return gate.call(action, fields, ctx=self._ctx()).body()

    def add_document(self, source: str | Path = "", options: Mapping[str, Any] | None = None, **fields: Any) -> Answer:
        """Import a document: an http(s) address or a file of this program, to the document store that is configured,
        else to this brain. What such a store refuses has `status` failed, with the reason in `warnings`."""
        return self._add("add_document", source, options, fields)

    def add_image(self, source: str | Path = "", options: Mapping[str, Any] | None = None, **fields: Any) -> Answer:
        """Import a picture, likewise."""
        return self._add("add_image", source, options, fields)

    def add_audio(self, source: str | Path = "", options: Mapping[str, Any] | None = None, **fields: Any) -> Answer:
        """Import a recording, likewise."""
        return self._add("add_audio", source, options, fields)

    def add_video(self, source: str | Path = "", options: Mapping[str, Any] | None = None, **fields: Any) -> Answer:
        """Import a film, likewise."""
        return self._add("add_video", source, options, fields)

    def add_media(self, source: str | Path = "", options: Mapping[str, Any] | None = None, **fields: Any) -> Answer:
        """Import anything, likewise; `media_type` in the options may say what it is."""
        return self._add("add_media", source, options, fields)

    def retrieve(self, plan: Mapping[str, Any], **fields: Any) -> Answer:
        """Carry out a retrieval plan on this brain's documents; gives an evidence pack."""
        return self.call("retrieve", plan=dict(plan), **fields)

    def __getattr__(self, action: str) -> Callable[..., dict[str, Any]]:
        """Each action as a method of its name."""
        if action not in {each.name for each in actions.all_actions()}:
            raise AttributeError(f"There is no action {action!r}.")

        def act(**fields: Any) -> dict[str, Any]:
            return self.call(action, **fields)

        return act

    def __dir__(self) -> list[str]:
        """The actions too, for completion at a prompt."""
        return [*super().__dir__(), *(each.name for each in actions.all_actions())]

    def close(self) -> None:
        """Give back this thread's connection to the file."""
        from django.db import connections  # noqa: PLC0415  needs the settings

        connections.close_all()

    def __enter__(self) -> Self:
        """The brain itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _add(
        self, operation: str, source: str | Path, options: Mapping[str, Any] | None, fields: Mapping[str, Any]
    ) -> Answer:
        from memory.resources import store_for  # noqa: PLC0415  needs the apps loaded

        return store_for(self._ctx(), self.domain).add(operation, source, options or {}, **fields)

    def _ctx(self) -> Ctx:
        identity = self._identify()
        return Ctx(identity.actor, Door.PYTHON, identity.reach)

    def _identify(self) -> Identity:
        """Who acts, read anew at each call, so that a changed grant counts at once."""
        from scopes.selectors import identify_named  # noqa: PLC0415  needs the apps loaded

        found = identify_named(self.principal)
        if found is None:
            raise ForbiddenError(f"The principal {self.principal!r} of this file is switched off.")
        return found


def open(path: str | Path, *, domain: str) -> Brain:  # noqa: A001  reads as embedded.open
    """Open the SQLite file, created and brought up to date where needed, to work in one domain.

    The first time a domain is opened, a principal `embedded:<domain>` with every right that a key can hold is created.
    Raises ConflictError where this process already works on another database, InvalidInputError for a bad domain name.
    """
    file = Path(path).expanduser().resolve()
    _configure(file)
    from django.core.management import call_command  # noqa: PLC0415  needs the settings

    brain = Brain(domain, f"embedded:{domain}")
    with _alone(file):
        call_command("migrate", interactive=False, verbosity=0)
        _ensure_principal(brain)
    return brain


def _configure(file: Path) -> None:
    """Set Django up for the file; the folder of the file is the data folder."""
    if settings.configured:
        _require_same(file)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    host.given.update(DATA_DIR=str(file.parent), DATABASE_URL=f"sqlite:///{quote(str(file))}")
    ours = importlib.import_module("smartbrain_site.settings")
    values = {name: getattr(ours, name) for name in dir(ours) if name.isupper()}
    # Logging and the time zone of the process belong to the host program.
    settings.configure(**{**values, "LOGGING_CONFIG": None})
    django.setup()
    _require_same(file)


def _require_same(file: Path) -> None:
    database = settings.DATABASES["default"]
    if database["ENGINE"] != SQLITE or Path(database["NAME"]).resolve() != file:
        raise ConflictError(
            f"Django in this process already works on {database['NAME']}: open {file} in another process, or speak "
            "to a server."
        )


def _ensure_principal(brain: Brain) -> None:
    from governance import gate  # noqa: PLC0415  needs the apps loaded
    from scopes.selectors import identify_named  # noqa: PLC0415  needs the apps loaded

    if identify_named(brain.principal) is not None:
        return
    fields = {"name": brain.principal, "domain_id": brain.domain, "rights": sorted(KEY_RIGHTS)}
    gate.call("create_principal", fields, ctx=gate.system_ctx("embedded", Door.PYTHON))


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Only one process at a time prepares the file."""
    with file.with_name(f"{file.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


__all__ = ["Brain", "DomainError", "open"]
