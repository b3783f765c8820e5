#!/usr/bin/env -S .venv/bin/python
"""Run a management command of SmartBrain."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "smartbrain_site.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as exc:
        print(f"smartbrain: {exc}", file=sys.stderr)
        sys.exit(2)
