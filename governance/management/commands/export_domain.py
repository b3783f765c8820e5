"""Write a domain to standard output as JSON lines, with a manifest at the end."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from django.core.management.base import CommandParser

from governance.contracts.exporting import FORMAT
from governance.management.base import ActionCommand
from kernel.errors import DomainError

PAGE = 1000


class Command(ActionCommand):
    help = (
        "Write what there is of a domain to standard output: a JSON document for each row, and at the end a manifest "
        "with the number of rows of each table, SHA-256 over the lines before it, and what is left out. The same rows "
        "give the same bytes. Stored bytes are not in it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--domain", default="legacy", help="the domain; `legacy` where left out")

    def handle(self, **options: Any) -> None:
        counts: Counter[str] = Counter()
        total = hashlib.sha256()
        cursor: str | None = None
        while True:
            given = {"domain_id": options["domain"], "limit": PAGE, "cursor": cursor}
            try:
                found = self.ask_as_operator("export_domain", given)
            except DomainError as exc:
                self.refuse_plain(exc)
            self.stdout.write(found["content"], ending="")
            total.update(found["content"].encode("utf-8"))
            counts[found["table"]] += found["rows"]
            cursor = found["next_cursor"]
            if cursor is None:
                break
        tables = {name: counts[name] for name in found["tables"]}
        manifest = {"format": FORMAT, "domain_id": options["domain"], "tables": tables, "sha256": total.hexdigest()}
        self.show({"manifest": {**manifest, "excluded": found["excluded"]}})
