"""Prepare the database and serve web and worker together until Ctrl-C."""

from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from smartbrain_site import demo
from smartbrain_site.supervisor import Part, PartStoppedError, accepts, serve, why_not_listen

GRACEFUL_SECONDS = "5"
# WhiteNoise hands static files over as plain iterators; Django reads them whole, which is right for files that small.
QUIET = "ignore:StreamingHttpResponse must consume synchronous iterators:Warning"


class Command(BaseCommand):
    help = "Prepare the database, set up the demo, and serve web and worker together until Ctrl-C or SIGTERM."
    requires_system_checks = []  # the web process runs them, and a second start should be fast

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
        parser.add_argument("--no-demo", action="store_true", help="make no demo domain, people or conversations")

    def handle(self, *, host: str, no_demo: bool, **options: Any) -> None:
        port: int = settings.PORT
        fault = why_not_listen(host, port)
        if fault:
            raise CommandError(f"{fault} Choose another with PORT=8001, or any free port.")
        try:
            made = self._prepare(demo_wanted=not no_demo)
        except DatabaseError as exc:
            raise CommandError(f"The database cannot be used, see DATABASE_URL: {exc}") from exc
        try:
            serve(
                _parts(host, port),
                ready=lambda: accepts(host, port),
                announce=lambda: self._announce(host, port, made, demo_wanted=not no_demo),
            )
        except PartStoppedError as exc:
            raise CommandError(f"{exc} The others were stopped too.") from exc
        self._say("Stopped.")

    def _prepare(self, *, demo_wanted: bool) -> demo.Credentials | None:
        call_command("migrate", interactive=False, verbosity=0)
        return demo.set_up() if demo_wanted else None

    def _announce(self, host: str, port: int, made: demo.Credentials | None, *, demo_wanted: bool) -> None:
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        self._say(f"\nSmartBrain is up, and Ctrl-C stops it.\n  Address  {address}/")
        self._say(f"  API      {address}/v1/docs/\n  Review   {address}/admin/")
        if made is not None:
            self._say(
                f"  API key  {made.api_key}  (domain {made.domain_id})\n"
                f"  Sign in  {made.reviewer} / {made.reviewer_password}  (reviewer)\n"
                f"           {made.operator} / {made.operator_password}  (operator)"
            )
        if demo_wanted:
            self._say(f"  Secrets  {demo.credentials_path()}")
        self._say("")

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _parts(host: str, port: int) -> list[Part]:
    web = ["-W", QUIET, "-m", "uvicorn", "smartbrain_site.asgi:application", "--host", host, "--port", str(port)]
    # Whose address a proxy tells is decided by BEHIND_PROXY: uvicorn by itself would believe anyone on this machine.
    web += ["--no-proxy-headers", "--timeout-graceful-shutdown", GRACEFUL_SECONDS]
    return [
        Part("web", [sys.executable, *web]),
        Part("worker", [sys.executable, str(settings.BASE_DIR / "manage.py"), "qcluster"]),
    ]
