"""Perform any action from the command line, as the carrier of a key or as a person."""

from __future__ import annotations

import getpass
import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth import authenticate
from django.core.management.base import CommandParser
from django.http import HttpRequest

from governance.management.base import ActionCommand, usage_error
from governance.services import devices
from kernel.actions import Action, all_actions
from kernel.conf import conf
from kernel.context import Door
from kernel.errors import ForbiddenError, UnauthenticatedError
from kernel.wire import check_tree
from scopes.selectors import Identity, authenticate_key, identify_person

if TYPE_CHECKING:
    from django.contrib.auth.models import User

STDIN = "-"
THIS_MACHINE = "127.0.0.1"


class Command(ActionCommand):
    help = (
        "Perform an action with JSON input and print its JSON answer. Acts as the carrier of SMARTBRAIN_API_KEY "
        "(or the key in the file SMARTBRAIN_API_KEY_FILE), or with --user as that person. "
        "Exit codes: 0 done or queued, 1 refused (problem JSON on standard error), 2 usage or environment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", nargs="?", help="name of the action; see --list")
        parser.add_argument(
            "input", nargs="?", default="{}", help="one JSON object, or - to read it from standard input"
        )
        parser.add_argument(
            "--schema", action="store_true", help="print the JSON schema of the action's input, and stop"
        )
        parser.add_argument("--list", action="store_true", help="print the name and summary of every action, and stop")
        parser.add_argument(
            "--user",
            metavar="NAME",
            help="act as this person; asks for the password, or reads it from the file SMARTBRAIN_PASSWORD_FILE",
        )
        parser.add_argument("--code", help="code of that person's second factor; asked for where they have one")

    def handle(self, **options: Any) -> None:
        if options["list"]:
            self.stdout.write("\n".join(f"{action.name:24} {action.summary}" for action in all_actions()))
            return
        action = _named(options["action"])
        if options["schema"]:
            self.stdout.write(json.dumps(action.input.model_json_schema(), indent=2, ensure_ascii=False))
            return
        raw = _read_stdin() if options["input"] == STDIN else options["input"]
        user, secret = options["user"], conf().api_key
        if user is None and not secret:
            raise usage_error("No key: set SMARTBRAIN_API_KEY or SMARTBRAIN_API_KEY_FILE, or say --user NAME.")
        code = options["code"]
        self.perform(action.name, raw, lambda: authenticate_key(secret) if user is None else _sign_in(user, code))


def _named(name: str | None) -> Action[Any, Any, Any]:
    known = {action.name: action for action in all_actions()}
    if name is None:
        raise usage_error("Which action? `manage.py act --list` names them.")
    if name not in known:
        raise usage_error(f"There is no action {name!r}. `manage.py act --list` names them.")
    return known[name]


def _read_stdin() -> bytes:
    """Standard input, one byte more than allowed at most, so that the gate can refuse what is too large."""
    return sys.stdin.buffer.read(conf().max_body_bytes + 1)


def _sign_in(name: str, code: str | None) -> Identity:
    """The person of that name, if the password is theirs and the code of their second factor too, where they have one.

    Unknown names and wrong passwords are refused alike, and too many of them lock the name as they do on the web.
    """
    password = _password(name)
    check_tree({"user": name, "password": password})
    request = HttpRequest()
    request.META |= {"REMOTE_ADDR": THIS_MACHINE, "smartbrain.door": Door.CLI}
    user = authenticate(request, username=name, password=password)
    if getattr(request, "axes_locked_out", False):
        raise UnauthenticatedError("Too many failed attempts for this user name: wait a while, then try again.")
    if user is None:
        raise UnauthenticatedError("No active person has this user name and password.")
    _second_factor(user, code)
    return identify_person(user)


def _second_factor(user: User, code: str | None) -> None:
    if devices.has_device(user):
        devices.verify(user, code if code is not None else _ask("Code of your second factor: ", "say --code CODE"))
    elif settings.SECOND_FACTOR_REQUIRED:
        raise ForbiddenError("A second factor is required here: sign in to the admin and set yours up first.")


def _password(name: str) -> str:
    path = conf().password_file
    if path:
        try:
            return Path(path).read_text("utf-8").rstrip("\r\n")
        except (OSError, ValueError) as exc:
            raise usage_error(f"SMARTBRAIN_PASSWORD_FILE cannot be read: {exc}") from exc
    return _ask(f"Password of {name}: ", "set SMARTBRAIN_PASSWORD_FILE")


def _ask(question: str, instead: str) -> str:
    """What is typed at the terminal, unseen; `instead` says what to do where there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(question, stream=sys.stderr)
    except (getpass.GetPassWarning, EOFError) as exc:
        raise usage_error(f"No terminal to ask {question.lower().removesuffix(': ')}: {instead}.") from exc
