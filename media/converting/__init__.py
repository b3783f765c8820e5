"""Reading documents as Markdown: text at once, office files, PDF and HTML in a process of their own with limits."""

from __future__ import annotations

from media.converting.reading import can_read, to_markdown
from media.converting.results import Converted, Limits
from media.converting.slots import BusyError

__all__ = ["BusyError", "Converted", "Limits", "can_read", "to_markdown"]
