"""Write the reference pages to docs/reference/, where a test compares them with the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from smartbrain_site.reference import pages


class Command(BaseCommand):
    help = "Write docs/reference/: actions, commands, error codes and policies."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--to", type=Path, default=settings.BASE_DIR / "docs" / "reference", help="The folder to write to."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["to"]
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages().items():
            (folder / name).write_text(text, "utf-8")
            self.stdout.write(str(folder / name))
