"""The demo: a domain with an agent, a reviewer, an operator, two conversations and some files, made through the gate.

Setting up again repairs what is missing and changes nothing that is there: all that the agent brings carries idempotency keys.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from governance import gate
from kernel.conf import conf
from kernel.context import Ctx, Door
from media.actions.working import run_media_job
from scopes.selectors import authenticate_key, domain_exists

DOMAIN = "demo"
AGENT = "demo-agent"
REVIEWER = "demo-reviewer"
OPERATOR = "demo-operator"  # names that no real account has: setting up again gives new passwords
FILE = "demo-credentials.json"
FOLDER = Path(__file__).parent
PLACE: dict[str, Any] = {"domain_id": DOMAIN, "scopes": [{"type": "project", "id": "atlas"}]}


@dataclass(frozen=True, slots=True)
class Credentials:
    """The secrets of the demo, which nobody can read out of the database again."""

    domain_id: str
    principal: str
    api_key: str
    reviewer: str
    reviewer_password: str
    operator: str
    operator_password: str


def credentials_path() -> Path:
    """The file in DATA_DIR that keeps the secrets, readable by its owner only."""
    return conf().data_dir / FILE


def set_up() -> Credentials | None:
    """Make the demo where this database has none, and answer its secrets; None where it was there before.

    The file is written last, so a start that was cut short is taken up again: people get new passwords and the agent
    one more key, since the old ones were never shown.
    """
    path = credentials_path()
    if path.exists() and domain_exists(DOMAIN):
        return None
    ctx = gate.system_ctx("demo", Door.CLI)
    operator_password = _person(OPERATOR, is_staff=True, is_superuser=True)
    reviewer_password = _person(REVIEWER, is_staff=True)
    key = _agent_key(ctx)
    gate.call("assign_reviewer", {"user": REVIEWER, "domain_id": DOMAIN}, ctx=ctx)
    _load(key)
    made = Credentials(DOMAIN, AGENT, key, REVIEWER, reviewer_password, OPERATOR, operator_password)
    _write(path, json.dumps(asdict(made), indent=2) + "\n")
    return made


def _person(name: str, **flags: bool) -> str:
    """An account with a new random password, which is returned."""
    password = secrets.token_urlsafe(15)
    with transaction.atomic():
        user, _ = get_user_model().objects.get_or_create(username=name, defaults=flags)
        user.set_password(password)
        user.save(update_fields=["password"])
    return password


def _agent_key(ctx: Ctx) -> str:
    """A key of the demo agent; its owner is the operator, so the reviewer can decide on what it proposes."""
    if domain_exists(DOMAIN):
        return str(gate.call("issue_key", {"name": AGENT}, ctx=ctx).body()["api_key"])
    given = {"name": AGENT, "domain_id": DOMAIN, "rights": ["read", "write", "promote"], "owner": OPERATOR}
    return str(gate.call("create_principal", given, ctx=ctx).body()["api_key"])


def _load(key: str) -> None:
    """Bring every demo conversation and file as the agent."""
    identity = authenticate_key(key)
    ctx = Ctx(identity.actor, Door.CLI, identity.reach)
    for path in sorted(FOLDER.glob("*.json")):
        for turn in turns(json.loads(path.read_text("utf-8"))):
            gate.call("commit_turn", turn, ctx=ctx)
    _bring_files(ctx)


def _bring_files(ctx: Ctx) -> None:
    """A picture, a document by a job that ends well, and a job that fails with something to do about it."""
    data = base64.b64encode((FOLDER / "pager-by-quarter.png").read_bytes()).decode()
    picture = {"title": "Pages of the pager, by quarter", "name": "pager-by-quarter.png", "data": data}
    gate.call("add_image", {**PLACE, "options": picture, "idempotency_key": "demo:picture"}, ctx=ctx)
    written = {"title": "On-call handbook", "text": (FOLDER / "on-call.md").read_text("utf-8"), "tags": ["on call"]}
    _job("add_document", "handbook", {"options": written}, ctx)
    _job("add_media", "minutes", {"source": "https://files.demo.invalid/minutes.pdf"}, ctx)


def _job(operation: str, name: str, asked: dict[str, Any], ctx: Ctx) -> None:
    """Ask for an import and do it at once, so that the job board has something to show before a worker is up."""
    given = {**PLACE, "operation": operation, "idempotency_key": f"demo:{name}", **asked}
    run_media_job(gate.call("enqueue_media", given, ctx=ctx).body()["job_id"])


def turns(conversation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The inputs of commit_turn for one conversation file."""
    shared = {"domain_id": DOMAIN, **{name: value for name, value in conversation.items() if name != "turns"}}
    return [
        {**shared, "idempotency_key": f"demo:{conversation['session_id']}:{number}", "turn_events": events}
        for number, events in enumerate(conversation["turns"], 1)
    ]


def _write(path: Path, text: str) -> None:
    """Write a whole file that only its owner can read, from its first byte on."""
    draft = path.with_suffix(".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)
