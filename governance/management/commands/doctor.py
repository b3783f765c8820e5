"""Check the installation, also where its database is not ready for any action."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser
from django.db import DatabaseError

from governance.management.base import REFUSED, ActionCommand, unusable_database
from governance.selectors.health import check_migrations, findings
from kernel import clock
from kernel.errors import DomainError


class Command(ActionCommand):
    help = (
        "Check migrations, policy, queue, sealing of the audit log, stored bytes, index and jobs, and say what to do. "
        "Exit codes: 0 all is well, 1 something is wrong, 2 usage or environment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document instead of lines")

    def handle(self, **options: Any) -> None:
        found = self._found()
        if options["json"]:
            self.show(found)
        else:
            for each in found["findings"]:
                self.stdout.write(f"{'ok   ' if each['well'] else 'WRONG'} {each['check']}: {each['what']}")
                if each["advice"]:
                    self.stdout.write(f"      {each['advice']}")
            wrong = sum(1 for each in found["findings"] if not each["well"])
            self.stdout.write(f"WRONG: {wrong} of {len(found['findings'])}." if wrong else "All is well.")
        if not found["well"]:
            raise SystemExit(REFUSED)

    def _found(self) -> dict[str, Any]:
        """What the doctor says; without its tables the gate can do nothing, so these are looked at first."""
        try:
            before = findings(clock.now(), {"migrations": check_migrations})
            if not before[0].well:
                return {"well": False, "findings": [each.model_dump(mode="json") for each in before]}
            return self.ask_as_operator("doctor", {})
        except DomainError as exc:
            self.refuse_plain(exc)
        except DatabaseError as exc:
            raise unusable_database(exc) from exc
