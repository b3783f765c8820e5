"""The actions that look after stored bytes."""

from __future__ import annotations

from datetime import timedelta

from kernel.actions import Action, Applied, Target, register
from kernel.conf import conf
from kernel.context import Ctx, Right
from media.contracts.objects import CheckMediaInput, CheckMediaResult, CollectMediaInput, CollectMediaResult
from media.selectors.checking import check_stretch
from media.services import objects


def _delete_unused(given: CollectMediaInput, ctx: Ctx) -> objects.Collected:
    hours = conf().media_grace_hours if given.min_age_hours is None else given.min_age_hours
    return objects.delete_unused(given.limit, timedelta(hours=hours), ctx)


def _forget(given: CollectMediaInput, collected: objects.Collected, ctx: Ctx) -> Applied[CollectMediaResult]:
    changes = objects.forget(collected)
    result = CollectMediaResult(
        removed=len(changes),
        freed_bytes=sum(row.byte_size for row in collected.objects),
        more=len(collected.objects) == given.limit,
        warnings=[f"store_unavailable:{collected.fault}"] if collected.fault else [],
    )
    return result, changes


GARBAGE_COLLECT_MEDIA_OBJECTS = register(
    Action(
        "garbage_collect_media_objects",
        "Remove stored bytes that no document and no kept job needs, once nobody has touched them for the grace period.",
        CollectMediaInput,
        CollectMediaResult,
        Right.OPERATE,
        lambda given, ctx: Target(None),
        _delete_unused,
        _forget,
        destroys=True,
        queueable=False,
        instead="Import the documents again: bytes that were removed are gone.",
    )
)


CHECK_MEDIA = register(
    Action(
        "check_media",
        "Compare files, rows and the index of sections, one stretch a call, and tell what is wrong.",
        CheckMediaInput,
        CheckMediaResult,
        Right.OPERATE,
        lambda given, ctx: Target(None),
        lambda given, ctx: check_stretch(given.cursor, deep=given.deep),
    )
)
