"""Write the audit log to standard output as one CSV or JSON document."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from governance.contracts import ExportFormat
from governance.management.base import ActionCommand
from kernel.errors import DomainError

FILTERS = ("domain_id", "scope", "action", "actor", "door", "outcome", "since", "until")
PAGE = 1000


class Command(ActionCommand):
    help = "Write audit entries to standard output as one CSV or JSON document, newest first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--format",
            choices=[each.value for each in ExportFormat],
            default=ExportFormat.CSV.value,
            help="csv or json (default: csv)",
        )
        for name in FILTERS:
            parser.add_argument(f"--{name.removesuffix('_id')}", dest=name, help="only these; see list_audit")

    def handle(self, **options: Any) -> None:
        given = {"format": options["format"], "limit": PAGE, **{name: options[name] for name in FILTERS}}
        as_json = options["format"] == ExportFormat.JSON.value
        cursor, written = None, 0
        if as_json:
            self.stdout.write("[", ending="")
        while True:
            try:
                found = self.ask_as_operator("export_audit", {**given, "cursor": cursor})
            except DomainError as exc:
                self.refuse_plain(exc)
            content = found["content"]
            if as_json:
                content = ("," if written and content else "") + ",".join(content.splitlines())
            self.stdout.write(content, ending="")
            written, cursor = written + found["rows"], found["next_cursor"]
            if cursor is None:
                break
        if as_json:
            self.stdout.write("]")
