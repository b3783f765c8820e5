"""Make the demo domain, its people, its agent and its conversations where this database has none."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from smartbrain_site import demo


class Command(BaseCommand):
    help = (
        "Set up the demo and write its secrets to demo-credentials.json in DATA_DIR; does nothing where it is there."
    )
    requires_system_checks = []

    def handle(self, **options: Any) -> None:
        made = demo.set_up()
        self.stdout.write(f"{'Demo set up' if made else 'The demo was there'}: {demo.credentials_path()}")
