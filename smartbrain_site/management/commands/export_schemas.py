"""Write what the doors publish about themselves to schemas/, where a test compares it with the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from smartbrain_site.http import openapi
from smartbrain_site.mcp import tools


class Command(BaseCommand):
    help = "Write schemas/openapi.json and schemas/mcp-tools.json."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--to", type=Path, default=settings.BASE_DIR / "schemas", help="The folder to write to.")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["to"]
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in {"openapi.json": openapi.text(), "mcp-tools.json": tools.text()}.items():
            (folder / name).write_text(text, "utf-8")
            self.stdout.write(str(folder / name))
