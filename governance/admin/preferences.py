"""The page on which a person chooses how the review screens behave."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from governance.adminbase import Screen, act, back_to, ctx_of, toast
from governance.contracts import DiffMode
from governance.selectors import preferences_of


class PreferencesScreen(Screen):
    """Shortcuts on or off, comparisons in two columns or one."""

    name = "governance_preferences"
    route = "preferences/"
    title = "Preferences"
    template = "smartbrain/preferences.html"
    placed = False

    def show(self, request: HttpRequest, **names: Any) -> dict[str, Any]:
        """The choices in force."""
        return {"preferences": preferences_of(ctx_of(request)), "modes": list(DiffMode)}

    def send(self, request: HttpRequest, **names: Any) -> HttpResponse:
        """Keep them."""
        act("set_preferences", request, shortcuts="shortcuts" in request.POST, diff=request.POST.get("diff", "side"))
        toast(request, "Kept.")
        return back_to(request, self.link)
