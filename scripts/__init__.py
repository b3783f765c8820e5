"""Tools of this repository: virtual environment, checks, test runs, a PostgreSQL for their own use."""

from __future__ import annotations
