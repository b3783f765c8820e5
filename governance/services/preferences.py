"""Writing a person's preferences."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from governance.contracts import Preferences, SetPreferencesInput
from governance.models import Preference
from kernel.actions import Change


def set_preferences(user_id: int, given: SetPreferencesInput) -> tuple[Preferences, Change]:
    """Change what the input names: all choices afterwards, and the change."""
    wanted: dict[str, Any] = given.model_dump(mode="json", exclude_none=True, exclude={"idempotency_key"})
    row = Preference.objects.filter(pk=user_id).first()
    before = None if row is None else {"shortcuts": row.shortcuts, "diff": row.diff}
    if row is None:
        try:
            with transaction.atomic():
                Preference.objects.create(user_id=user_id, **wanted)
        except IntegrityError:  # the same person chose at this moment in another window: both choices count
            Preference.objects.filter(pk=user_id).update(**wanted)
    elif wanted:
        Preference.objects.filter(pk=user_id).update(**wanted)
    kept = Preference.objects.get(pk=user_id)
    after = {"shortcuts": kept.shortcuts, "diff": kept.diff}
    return Preferences.parse(after), Change("preferences", str(user_id), before, after)
