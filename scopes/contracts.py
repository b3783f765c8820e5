"""How callers name scopes: ScopeRef, ScopeContext, and the fields that every scoped call shares."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from kernel.context import ActorKind, Right
from kernel.contracts import Contract, Identifier
from kernel.errors import InvalidInputError
from kernel.text import has_invisible

LEGACY_DOMAIN = "legacy"
SESSION = "session"
OWNER = "@owner"  # a scope of one actor for itself; no caller can name it: no scope type of a call holds such a sign
SCOPE_TYPES = ("global", "project", "expert", "task", SESSION)

# Between scopes written in one line: an id may hold spaces and commas, and the next scope begins with a type.
_BETWEEN = r"[\s,]+"
_QUOTED = re.compile(rf'"((?:[^"]|"")*)"(?:{_BETWEEN}|$)')
_PLAIN = re.compile(rf'(.+?)(?:(?<![\s,]){_BETWEEN}+(?="?[a-z]+:)|$)', re.DOTALL)

DomainId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]*$",
        description="The isolation boundary: a user, tenant or application. Letters, digits, `_`, `.`, `-`.",
    ),
]
ScopePattern = Annotated[
    str,
    Field(
        max_length=240,
        pattern=r"^(\*|[a-z]+:(\*|\S(.*\S)?))$",
        description="Which scopes: `type:id`, `type:*` or `*`.",
    ),
]


def _readable(text: str) -> str:
    if has_invisible(text):
        raise ValueError("holds a character that nobody can see")
    return text


ExternalId = Annotated[Identifier, AfterValidator(_readable)]


class Role(StrEnum):
    """What a person is assigned to do in scopes. Its name is also that of a group: out of it, nobody acts in that role."""

    REVIEWER = "reviewer"
    AUDITOR = "auditor"
    OPERATOR = "operator"


class ScopeRef(Contract):
    """A scope by its type and id, such as project `project-001`."""

    type: str = Field(
        min_length=1,
        max_length=32,
        pattern=r"^[a-z]+$",
        description="`global`, `project`, `expert`, `task`, or `session` for one conversation.",
    )
    id: ExternalId = Field(description="The caller's own id of the scope, 1 to 200 characters.")
    domain_id: DomainId | None = Field(
        default=None, description="Only to be explicit: it must be the domain of the request."
    )

    @property
    def name(self) -> str:
        """The written form, `type:id`."""
        return f"{self.type}:{self.id}"


def written_scope(name: str, field: str) -> dict[str, str]:
    """The type and id of a scope that a person wrote as `type:id`. Raises InvalidInputError that names the field."""
    scope_type, colon, external_id = name.partition(":")
    if not colon:
        message = f"{name!r} is no scope: write it as type:id, such as project:shop."
        raise InvalidInputError(message, errors=[{"loc": [field], "msg": message, "type": "scope"}])
    return {"type": scope_type, "id": external_id}


def split_scopes(text: str, field: str) -> tuple[str, ...]:
    """The scopes that a person wrote in one line, as `type:id` each, with spaces or commas between them. An id may hold
    both; where what follows them there looks like a type, the whole is written in quotation marks, and one inside them
    twice. Raises InvalidInputError that names the field where such a mark is not closed."""
    found, rest = [], text.strip(" ,\t\r\n")
    while rest:
        quoted = rest.startswith('"')
        name = (_QUOTED if quoted else _PLAIN).match(rest)
        if name is None:
            message = f"{rest!r} has a quotation mark that is not closed: close it, and write one inside twice."
            raise InvalidInputError(message, errors=[{"loc": [field], "msg": message, "type": "scope"}])
        found.append(name[1].replace('""', '"') if quoted else name[1])
        rest = rest[name.end() :]
    return tuple(filter(None, found))


def join_scopes(names: Iterable[str]) -> str:
    """Scopes in one line, as `split_scopes` reads them."""
    return " ".join(map(_written, names))


def _written(name: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return quoted if name.startswith('"') or split_scopes(name, "") != (name,) else name


class ScopeContext(Contract):
    """Which scopes a call reads, may write, and writes by default."""

    read: list[ScopeRef] = Field(
        min_length=1, max_length=100, description="Scopes to read, each once, all of the request's domain."
    )
    write: list[ScopeRef] | None = Field(
        default=None,
        max_length=100,
        description="Scopes that may be written, a subset of `read`; left out, only `default_write`.",
    )
    default_write: ScopeRef | None = Field(
        default=None, description="Where long-term memory goes unless an item says otherwise; one of `write`."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        read = [ref.name for ref in self.read]
        if len(set(read)) != len(read):
            raise ValueError("read names a scope twice")
        write = [ref.name for ref in self.write or []]
        if len(set(write)) != len(write):
            raise ValueError("write names a scope twice")
        if not set(write) <= set(read):
            raise ValueError("write must be a subset of read")
        if self.default_write is None:
            return self
        if self.write is None and self.default_write.name not in read:
            raise ValueError("default_write must be one of read")
        if self.write is not None and self.default_write.name not in write:
            raise ValueError("default_write must be one of write")
        return self


class Scoped(Contract):
    """The fields by which every scoped call says where it happens."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    session_id: ExternalId | None = Field(default=None, description="The conversation, in the caller's own words.")
    scope_context: ScopeContext | None = Field(
        default=None, description="Left out: read and write the scope `session:<session_id>` only."
    )

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if self.session_id is None and self.scope_context is None:
            raise ValueError("give a session_id or a scope_context")
        return self


class NarrowedInput(Contract):
    """By-id calls take domain and scope from the record; a given context only narrows them."""

    scope_context: ScopeContext | None = Field(
        default=None,
        description="If given, what is named is found only where its scope is one of those that are read here.",
    )


class ScopeView(Contract):
    """A scope as an answer shows it."""

    type: str = Field(description="Scope type.")
    id: str = Field(description="Scope id in the caller's own words.")


class GrantView(Contract):
    """What a principal may do where."""

    domain_id: str = Field(description="Domain of the grant.")
    pattern: str = Field(description="Scopes: `type:id`, `type:*` or `*`.")
    rights: list[Right] = Field(description="Rights on those scopes.")


class PrincipalView(Contract):
    """A principal as any operator sees it; never with a secret."""

    id: str = Field(description="Principal id (UUIDv7).")
    name: str = Field(description="Unique name.")
    kind: ActorKind = Field(description="Kind of actor.")
    active: bool = Field(description="False once switched off: its keys stop working.")
    owner: str | None = Field(description="User name of the person who answers for it.")
    grants: list[GrantView] = Field(description="Its grants.")
