"""Perform any action from the command line, as the carrier of a key or as a person."""

from __future__ import annotations

import getpass
import json
import sys
import warnings
from pathlib import Path
from typing import Any

from django.contrib.auth import authenticate
from django.core.management.base import CommandParser

from governance.management.base import ActionCommand, usage_error
from kernel.actions import Action, all_actions
from kernel.conf import conf
from kernel.errors import UnauthenticatedError
from kernel.wire import check_tree
from scopes.selectors import Identity, authenticate_key, identify_person

STDIN = "-"


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
        self.perform(action.name, raw, lambda: authenticate_key(secret) if user is None else _sign_in(user))


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


def _sign_in(name: str) -> Identity:
    """The person of that name, if the password is theirs. Unknown names and wrong passwords are refused alike."""
    password = _password(name)
    check_tree({"user": name, "password": password})
    user = authenticate(username=name, password=password)
    if user is None:
        raise UnauthenticatedError("No active person has this user name and password.")
    return identify_person(user)


def _password(name: str) -> str:
    path = conf().password_file
    if path:
        try:
            return Path(path).read_text("utf-8").rstrip("\r\n")
        except (OSError, ValueError) as exc:
            raise usage_error(f"SMARTBRAIN_PASSWORD_FILE cannot be read: {exc}") from exc
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(f"Password of {name}: ", stream=sys.stderr)
    except (getpass.GetPassWarning, EOFError) as exc:
        raise usage_error("No terminal to ask for the password: set SMARTBRAIN_PASSWORD_FILE.") from exc
