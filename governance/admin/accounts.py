"""Admin pages for operators only: people's accounts. Pages that packages bring for their own tables are taken away."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from governance import gate
from governance.adminbase import Placed, ctx_of
from governance.contracts import Outcome
from kernel.queue import hide_admin


class OperatorsOnly(Placed):
    """Pages that only a superuser opens. Nothing is deleted here: an account is switched off, its record stays."""

    group = "System"

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Superusers only."""
        return bool(request.user.is_active and request.user.is_superuser)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers only."""
        return self.has_module_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers only."""
        return self.has_module_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers only."""
        return self.has_module_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never."""
        return False

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> None:
        """Enter it into the audit log, beside Django's own."""
        self._note(request, "add_account", obj, message)
        return super().log_addition(request, obj, message)  # type: ignore[misc, no-any-return]

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> None:
        """Enter it into the audit log, beside Django's own."""
        self._note(request, "change_account", obj, message)
        return super().log_change(request, obj, message)  # type: ignore[misc, no-any-return]

    def _note(self, request: HttpRequest, event: str, row: Model, message: Any) -> None:
        """Which account or group, and which of its fields; no value, for one is a password."""
        fields = [
            name for part in message if isinstance(part, dict) for name in part.get("changed", {}).get("fields", [])
        ]
        what = f": {', '.join(fields)}" if fields else f": {message}" if isinstance(message, str) else ""
        gate.note(event, ctx_of(request), Outcome.ALLOWED, f"{self.opts.verbose_name} {str(row)!r}{what}")


class PeopleAdmin(OperatorsOnly, UserAdmin, ModelAdmin):  # type: ignore[misc, type-arg]
    """People who sign in."""

    place, icon = 8, "person"
    form, add_form, change_password_form = UserChangeForm, UserCreationForm, AdminPasswordChangeForm
    list_filter = ()
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        (
            "Access",
            {
                "fields": ("is_active", "is_staff", "is_superuser", "groups"),
                "description": "Staff may sign in here and see what is assigned to them for review; superusers operate"
                " the installation. Out of the group reviewer, auditor or operator nobody acts in that role. Accounts are switched off, never deleted, so that the record stays whole.",
            },
        ),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    show_full_result_count = False


class TeamsAdmin(OperatorsOnly, GroupAdmin, ModelAdmin):  # type: ignore[misc]
    """Django's groups."""

    place, icon = 9, "group"
    show_full_result_count = False


def _register(model: type[Model], page: type[Any]) -> None:
    admin.site.unregister(model)
    admin.site.register(model, page)


def _hide(module: str, app: str) -> None:
    """Take away the pages that a package registers: they would change its rows past every rule."""
    import_module(module)  # registers them, so that nothing does so later
    for model in apps.get_app_config(app).get_models():
        if admin.site.is_registered(model):
            admin.site.unregister(model)


_register(User, PeopleAdmin)
_register(Group, TeamsAdmin)
hide_admin()
_hide("django_otp.plugins.otp_totp.admin", "otp_totp")
