"""Hold what was moved in against the older database, or against itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from governance import gate
from governance.management.base import REFUSED, USAGE, ActionCommand, operator_name, unusable_database
from kernel.context import Door
from kernel.db import interruptible
from kernel.errors import DomainError
from legacy.contracts.validating import MigrationReport
from legacy.management.progress import Bar
from legacy.management.report import as_text
from legacy.services import recording, validating
from legacy.services.readable import require_readable
from legacy.source import Source, opened


class Command(ActionCommand):
    help = (
        "Hold every row that was moved in against the older database, of which it reads one snapshot; without --from, "
        "against this side alone, and say which checks that leaves out. The report is kept and shown in the admin. "
        "Exit codes: 0 whole, 1 something is wrong, 2 usage or environment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--from", dest="source", metavar="URL", help="the older database: postgresql://...")
        parser.add_argument("--batch", type=int, default=validating.BATCH, help="rows of a batch, 1 to 5,000")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, **options: Any) -> None:
        if not 1 <= options["batch"] <= 5000:
            raise CommandError("--batch takes 1 to 5,000.", returncode=2)
        ctx = gate.system_ctx(operator_name(), Door.CLI)
        try:
            with interruptible():
                with _source(options["source"]) as source:
                    report = validating.validate(source, Bar(self.stderr.write).show, options["batch"])
                recording.keep(report, ctx)
        except KeyboardInterrupt:
            self.stderr.write("\nBroken off. No report was kept; nothing was changed.")
            raise SystemExit(USAGE) from None
        except DomainError as exc:
            self.refuse_plain(exc)
        except DatabaseError as exc:
            raise unusable_database(exc) from exc
        self._say(report, as_json=options["json"])
        if not report.whole:
            raise SystemExit(REFUSED)

    def _say(self, report: MigrationReport, *, as_json: bool) -> None:
        if as_json:
            self.show(report.model_dump(mode="json"))
        else:
            self.stdout.write(as_text(report))


@contextmanager
def _source(url: str | None) -> Iterator[Source | None]:
    if url is None:
        yield None
        return
    with opened(url) as source:
        require_readable(source)
        yield source
