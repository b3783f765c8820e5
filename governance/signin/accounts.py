"""Accounts as a request needs them: with their second factor and their preferences, in one statement."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.db.models import Exists, OuterRef
from django_otp.plugins.otp_totp.models import TOTPDevice


class AccountBackend(ModelBackend):
    """Names and passwords as Django checks them."""

    def get_user(self, user_id: Any) -> Any:
        """The active account of a session; `with_device` says whether it had a second factor when the request came."""
        devices = TOTPDevice.objects.filter(user=OuterRef("pk"), confirmed=True)
        rows = get_user_model().objects.select_related("preference").annotate(with_device=Exists(devices))
        user = rows.filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
