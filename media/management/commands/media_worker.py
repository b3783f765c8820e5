"""Run media jobs without the queue: recover what lost workers held, then take due jobs, oldest first."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import close_old_connections

from kernel.conf import conf
from media.actions import working

RECOVER_SECONDS = 60.0


class Command(BaseCommand):
    help = "Run media jobs until Ctrl-C or SIGTERM, beside or instead of `qcluster`; the job at hand is ended first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="run one batch of due jobs and stop")
        parser.add_argument("--batch-size", type=int, default=10, help="jobs in a batch (default: 10)")
        parser.add_argument("--interval", type=float, default=2.0, help="seconds to wait where nothing is due")

    def handle(self, *, once: bool, batch_size: int, interval: float, **options: Any) -> None:
        stop = threading.Event()
        if not once:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: stop.set())
        recovered = float("-inf")
        while not stop.is_set():
            close_old_connections()
            if time.monotonic() - recovered >= min(RECOVER_SECONDS, conf().media_stale_seconds / 3):
                working.recover_media_jobs()
                recovered = time.monotonic()
            ran = working.run_due(batch_size, stop=stop.is_set)
            if once:
                self.stdout.write(f"Ran {ran} jobs.")
                return
            if ran == 0:
                stop.wait(interval)
