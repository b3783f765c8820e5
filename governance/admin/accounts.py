"""Admin pages for operators only: people's accounts. The job queue's own pages are taken away."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from governance.adminbase import Placed
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
                "fields": ("is_active", "is_staff", "is_superuser"),
                "description": "Staff may sign in here and see what is assigned to them for review; superusers operate"
                " the installation. Accounts are switched off, never deleted, so that the record stays whole.",
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


_register(User, PeopleAdmin)
_register(Group, TeamsAdmin)
hide_admin()
