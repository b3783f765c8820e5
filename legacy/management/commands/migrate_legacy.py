"""Move the older systems' data in, with a progress bar."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from django.core.management.base import CommandParser
from django.db import DatabaseError

from governance import gate
from governance.management.base import ActionCommand, operator_name, unusable_database, usage_error
from kernel.context import Door
from kernel.db import interruptible
from kernel.errors import DomainError
from kernel.text import show_invisible
from legacy.management.progress import Bar
from legacy.services.alone import alone
from legacy.services.migrating import BATCH, Options, migrate
from legacy.services.owning import owner_named
from legacy.services.readable import require_readable
from legacy.source import Source, opened
from legacy.steps import STEPS


class Command(ActionCommand):
    help = (
        "Move the data of the older SmartBrain and SmartRAG in from their PostgreSQL, which is only read. Run again, it "
        "takes what is new and what was in the quarantine; broken off, it goes on where it was."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--from", dest="source", required=True, help="postgresql://user:password@host/database")
        parser.add_argument(
            "--owner",
            help="principal whose the sessions become, for good; needed unless exactly one has a grant in `legacy`",
        )
        parser.add_argument(
            "--grant-owner",
            action="store_true",
            help="let the owner read and write in every domain that gets sessions",
        )
        parser.add_argument("--media-root", type=Path, help="folder of the older system's stored files")
        parser.add_argument("--only", help=f"steps by commas: {', '.join(step.name for step in STEPS)}")
        parser.add_argument("--batch", type=int, default=BATCH, help="rows of a batch, 1 to 10,000")
        parser.add_argument("--dry-run", action="store_true", help="do it all and undo it; nothing is stored")
        parser.add_argument(
            "--same-source", action="store_true", help="this is a restored copy of the database that was read before"
        )
        parser.add_argument(
            "--join-domains", help="domains of the source, by commas, that are those of the same name here"
        )
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, **options: Any) -> None:
        wanted = _options(options)
        try:
            with alone(), opened(options["source"]) as source:
                require_readable(source)
                self._move(source, wanted, options)
        except DomainError as exc:
            self.refuse_plain(exc)
        except DatabaseError as exc:
            raise unusable_database(exc) from exc

    def _move(self, source: Source, wanted: Options, options: dict[str, Any]) -> None:
        ctx = gate.system_ctx(operator_name(), Door.CLI)
        try:
            owner, bar = owner_named(options["owner"]), Bar(self.stderr.write)
            self.stderr.write(show_invisible(f"{source.label} moves in as {owner.name}'s."))
            with interruptible():
                run_id, figures = migrate(source, owner, wanted, ctx, lambda *told: bar.show(*told[:3]))
        except KeyboardInterrupt:
            self._broken_off()
        body = {"run_id": str(run_id), "source": source.label, "owner": owner.name, "dry_run": wanted.dry_run}
        body |= {**figures.as_json(), "kept": figures.kept}
        if options["json"]:
            self.show(body)
        else:
            self._tell(body)

    def _broken_off(self) -> NoReturn:
        self.stderr.write("\nBroken off. What was stored stays; the same command goes on from there.")
        raise SystemExit(1)

    def _tell(self, body: dict[str, Any]) -> None:
        """The figures as a table for people."""
        names = ("read", "migrated", "unchanged", "changed", "kept", "quarantined", "left_out")
        self.stdout.write(f"{'table':26}" + "".join(f"{name:>12}" for name in names))
        for table, counts in body["tables"].items():
            self.stdout.write(f"{table:26}" + "".join(f"{counts.get(name, 0):12}" for name in names))
        for reason, many in sorted(body["reasons"].items()):
            self.stdout.write(f"quarantine: {reason} {many}")
        for table, why in sorted(body["left_out"].items()):
            self.stdout.write(show_invisible(f"left out: {table}: {why}"))
        for kept in body["kept"]:
            self.stdout.write(
                show_invisible(f"kept as it is here: {kept['table']} {kept['id']}: {kept['reason']} {kept['note']}")
            )
        if body["closed_hosts"]:
            hosts = ", ".join(f"{host} ({many})" for host, many in sorted(body["closed_hosts"].items()))
            self.stdout.write(
                show_invisible(f"jobs wait for hosts that SMARTBRAIN_MEDIA_ALLOWED_HOSTS does not name: {hosts}")
            )
        for closed in body["closed_domains"]:
            self.stdout.write(show_invisible(f"closed to its owner: {closed['what']}"))
        verb = "would become" if body["dry_run"] else "became"
        self.stdout.write(
            show_invisible(f"Sessions, and what had no owner of its own there, {verb} {body['owner']}'s.")
        )
        undone = " (dry run: nothing was stored)" if body["dry_run"] else ""
        self.stdout.write(
            f"{body['rows']} rows in {body['seconds']} s, {body['rows_per_second']} rows/s, "
            f"at most {body['peak_memory'] // 1_048_576} MiB{undone}"
        )


def _options(given: dict[str, Any]) -> Options:
    names = _by_commas(given["only"])
    unknown = [name for name in names if name not in {step.name for step in STEPS}]
    if unknown:
        raise usage_error(f"--only: no step {unknown[0]!r}; the steps are {', '.join(step.name for step in STEPS)}.")
    if not 1 <= given["batch"] <= 10_000:
        raise usage_error("--batch takes 1 to 10000.")
    root = given["media_root"]
    if root is not None and not root.is_dir():
        raise usage_error(f"--media-root: {root} is no folder.")
    return Options(
        names,
        given["batch"],
        given["dry_run"],
        root,
        same_source=given["same_source"],
        grant_owner=given["grant_owner"],
        join_domains=_by_commas(given["join_domains"]),
    )


def _by_commas(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())
