"""The reference pages, written from the code: actions, commands, error codes and policies."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from django.core.management import get_commands, load_command_class
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from governance.hooks import policy_sections
from kernel.actions import Action, all_actions
from kernel.canonical import canonical_json
from kernel.context import Right
from kernel.errors import all_errors

OWN_APPS = ("governance", "legacy", "memory", "media", "search", "scopes", "kernel", "smartbrain_site")
GENERATED = "<!-- Written by `manage.py export_reference`; a test compares it with the code. -->"


def pages() -> dict[str, str]:
    """Every reference page by file name."""
    return {
        "actions.md": _page("Actions", ACTIONS_INTRO, [*map(_action, all_actions()), SHAPES_INTRO, *_shapes()]),
        "commands.md": _page("Commands", COMMANDS_INTRO, _commands()),
        "errors.md": _page("Error codes", ERRORS_INTRO, [_errors()]),
        "policies.md": _page("Policies", POLICIES_INTRO, _policies()),
    }


ACTIONS_INTRO = """Everything anyone can do. Each action is `POST /v1/<name>` over HTTP, the tool `<name>` over MCP,
`manage.py act <name>` at the command line, and `brain.call("<name>", ...)` in process: the same input, answer, refusal and
audit entry. The whole schema is at `/v1/schema/`, and `manage.py act <name> --schema` prints the input's."""

SHAPES_INTRO = """## Shapes

What stands inside inputs and answers."""

COMMANDS_INTRO = """Run them as `manage.py <command>`. Those that change something print JSON and exit with 0 (done or queued),
1 (refused; the problem is on standard error) or 2 (usage or environment)."""

ERRORS_INTRO = """A refusal has one of these codes on every door. Over HTTP the body is `application/problem+json` with `type`,
`title`, `status`, `code`, `detail`, `error` (the text again, for older clients), `errors[]` and `request_id`; over MCP the same
object is the content of the error; at the command line it is on standard error."""

POLICIES_INTRO = """The policy document has these sections. `DATA_DIR/brain.yml` holds it under `policies:`; `set_policy` stores
versions of it for the installation or a domain. A layer replaces whole fields. `get_policy` shows what is in force."""


def _page(title: str, intro: str, parts: Any) -> str:
    return "\n\n".join([f"# {title}", GENERATED, intro, *parts]) + "\n"


def _action(action: Action[Any, Any, Any]) -> str:
    either = f"; for a signed-in person `{Right.DECIDE}` does as well" if action.or_decide else ""
    facts = [f"needs `{action.right}`{either}", str(action.effect)]
    facts += ["safe to send again"] if action.idempotent else []
    facts += [f"also `GET /v1/{action.resource}`"] if action.resource else []
    return "\n\n".join(
        [
            f"## {action.name}",
            action.summary,
            f"*{', '.join(facts)}*",
            _fields("Input", action.input),
            _fields("Answer", action.output),
        ]
    )


def _fields(title: str, model: type[BaseModel]) -> str:
    if not model.model_fields:
        return f"**{title}**: nothing."
    rows = [
        f"| `{name}` | {_type(info.annotation)} | {_default(info)} | {_cell(info.description or '')} |"
        for name, info in model.model_fields.items()
    ]
    return "\n".join([f"**{title}**", "", "| field | type | default | meaning |", "|---|---|---|---|", *rows])


def _type(annotation: Any) -> str:
    return f"`{_cell(_spelled(annotation))}`"


def _spelled(annotation: Any) -> str:
    """A type as Python writes it, without modules and without the metadata of `Annotated`."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation in (None, NoneType):
        return "null"
    if origin is Annotated:
        return _spelled(inner[0])
    if origin in (Union, UnionType):
        return " | ".join(_spelled(part) for part in inner)
    if origin is Literal:
        return " | ".join(repr(part) for part in inner)
    name = getattr(origin or annotation, "__name__", str(annotation))
    return f"{name}[{', '.join(_spelled(part) for part in inner)}]" if inner else name


def _shapes() -> Iterator[str]:
    """The classes inside inputs and answers, each once, by name."""
    found: dict[str, type[BaseModel]] = {}
    pending: list[Any] = [model for action in all_actions() for model in (action.input, action.output)]
    seen = set(pending)
    while pending:
        for info in pending.pop().model_fields.values():
            for model in _models_in(info.annotation):
                if model not in seen:
                    seen.add(model)
                    pending.append(model)
                    found[model.__name__] = model
    for name in sorted(found):
        yield "\n\n".join([f"### {name}", _cell(found[name].__doc__ or ""), _fields("Fields", found[name])])


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


def _default(info: Any) -> str:
    if info.is_required():
        return "required"
    value = info.default if info.default is not PydanticUndefined else info.get_default(call_default_factory=True)
    return f"`{_cell(_json(value))}`"


def _json(value: Any) -> str:
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    return canonical_json(plain)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _commands() -> Iterator[str]:
    for name, app in sorted(get_commands().items()):
        if str(app).split(".")[0] not in OWN_APPS:
            continue
        parser = load_command_class(str(app), name).create_parser("manage.py", name)
        rows = []
        for argument in parser._actions:  # noqa: SLF001  argparse has no public list of its arguments
            if argument.help is None or argument.dest in _DJANGO_ARGUMENTS:
                continue
            shown = ", ".join(argument.option_strings) or argument.dest.upper()
            rows.append(f"| `{shown}` | {_cell(argument.help)} |")
        table = "\n".join(["| argument | meaning |", "|---|---|", *rows]) if rows else "No arguments."
        yield "\n\n".join([f"## {name}", _cell(parser.description or ""), table])


_DJANGO_ARGUMENTS = frozenset(
    {"help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"}
)


def _errors() -> str:
    rows = [
        f"| `{error.code}` | {error.status} | {_cell(error.__doc__ or '')} |"
        for error in sorted(all_errors(), key=lambda each: (each.status, each.code))
    ]
    return "\n".join(["| code | HTTP status | what to do |", "|---|---|---|", *rows])


def _policies() -> Iterator[str]:
    for name, section in policy_sections().items():
        yield "\n\n".join([f"## {name}", _cell(section.__doc__ or ""), _fields("Fields", section)])
