"""How a command performs an action: JSON on standard output, a refusal as problem JSON on standard error.

Exit codes: 0 done or queued, 1 refused, 2 usage or environment.
"""

from __future__ import annotations

import io
import json
import logging
import os
import pwd
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from governance import gate
from kernel.context import Ctx, Door
from kernel.errors import DomainError, InternalError
from kernel.ids import new_id
from scopes.selectors import Identity

logger = logging.getLogger(__name__)

REFUSED = 1
USAGE = 2


class ActionCommand(BaseCommand):
    """A command that performs actions through the gate."""

    requires_system_checks = []

    def perform(self, action: str, raw: bytes | str | Mapping[str, Any], identify: Callable[[], Identity]) -> None:
        """Perform the action as whoever `identify` finds and print its answer, or print why not and leave with 1."""
        request_id = new_id()
        try:
            identity = identify()
            ctx = Ctx(identity.actor, Door.CLI, identity.reach, request_id)
            body = gate.call(action, raw, ctx=ctx).body()
        except CommandError:
            raise
        except DomainError as exc:
            self.refuse(exc, request_id)
        except DatabaseError as exc:
            raise unusable_database(exc) from exc
        except Exception:
            logger.exception("%s failed, request %s", action, request_id)
            self.refuse(InternalError(), request_id)
        self.show(body)

    def perform_as_operator(self, action: str, tree: Mapping[str, Any]) -> None:
        """Perform the action as the operator at this shell; fields that are None are left out."""
        given = {name: value for name, value in tree.items() if value is not None}
        operator = gate.system_ctx(operator_name(), Door.CLI)
        self.perform(action, given, lambda: Identity(operator.actor, operator.reach))

    def ask_as_operator(self, action: str, tree: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of an action performed as the operator at this shell; fields that are None are left out."""
        given = {name: value for name, value in tree.items() if value is not None}
        _speak_utf8(sys.stdout)
        try:
            return gate.call(action, given, ctx=gate.system_ctx(operator_name(), Door.CLI)).body()
        except DatabaseError as exc:
            raise unusable_database(exc) from exc

    def refuse_plain(self, error: DomainError) -> NoReturn:
        """Print the problem of a call that has no request id of its own to tell, and leave with code 1."""
        self.refuse(error, new_id())

    def show(self, body: Any) -> None:
        """Print one JSON document on one line, in UTF-8 whatever the locale."""
        _speak_utf8(sys.stdout)
        self.stdout.write(json.dumps(body, ensure_ascii=False))

    def refuse(self, error: DomainError, request_id: UUID) -> NoReturn:
        """Print the problem on standard error and leave with code 1."""
        _speak_utf8(sys.stderr)
        self.stderr.write(json.dumps(error.problem(str(request_id)), ensure_ascii=False))
        raise SystemExit(REFUSED)


def usage_error(message: str) -> CommandError:
    """The error of a call that cannot be tried: wrong use, or an environment that lacks something."""
    return CommandError(message, returncode=USAGE)


def unusable_database(exc: DatabaseError) -> CommandError:
    """The error where the database cannot be used at all."""
    return usage_error(f"The database cannot be used ({type(exc).__name__}): run `manage.py migrate`, then try again.")


def operator_name() -> str:
    """The name of the account that runs this process, from the system and not from the environment."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"


def _speak_utf8(stream: object) -> None:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
