"""Rows that no action makes yet: items of any tier, lifecycle and time, indexed as a commit would index them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from factory.declarations import LazyAttribute, LazyFunction, SelfAttribute, Sequence, Trait
from factory.django import DjangoModelFactory

from kernel import clock
from memory.models import MemoryItem
from memory.services.items import chunk_of, entry_of
from memory.statements import content_hash, statement
from scopes.models import Domain, MemoryScope
from search import services as index
from tests.conftest import TEAM
from tests.guards import write_guard


def scope_row(name: str, domain_id: str = TEAM) -> MemoryScope:
    """The scope of that written form, `type:id`, made where it is missing."""
    scope_type, _, external_id = name.partition(":")
    with write_guard.unguarded():
        Domain.objects.get_or_create(pk=domain_id)
        row, _ = MemoryScope.objects.get_or_create(
            domain_id=domain_id, scope_type=scope_type, external_id=external_id, partition=""
        )
    return row


class ItemFactory(DjangoModelFactory):
    """A current, promoted fact in `scope` (a scope's row), with its index text and entry."""

    class Meta:
        model = MemoryItem
        exclude = ["text"]

    class Params:
        candidate = Trait(lifecycle_status="candidate", confidence=0.6)
        demoted = Trait(lifecycle_status="demoted")
        expired = Trait(valid_to=LazyFunction(lambda: clock.now() - timedelta(days=1)))
        future = Trait(valid_from=LazyFunction(lambda: clock.now() + timedelta(days=1)))
        principle = Trait(tier="dao_tian", lifecycle_status="canonical", pinned=True, memory_kind="knowledge")
        method = Trait(tier="shu", lifecycle_status="promoted", memory_kind="knowledge")

    text = Sequence(lambda n: f"Statement number {n}.")
    domain = SelfAttribute("scope.domain")
    type = "facts"
    key: Any = Sequence(lambda n: f"fact:made:{n}")
    value = LazyAttribute(lambda made: {"statement": made.text})
    statement = LazyAttribute(lambda made: statement(made.type, made.value))
    confidence = 0.8
    status = "active"
    lifecycle_status = "promoted"
    origin = "structured"
    author_id = "maker"
    author_name = "maker"
    content_hash = LazyAttribute(lambda made: content_hash(made.type, made.key, made.value))

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **kwargs: Any) -> MemoryItem:
        with write_guard.unguarded(), transaction.atomic():
            item: MemoryItem = super()._create(model_class, *args, **kwargs)
            chunk = chunk_of(item)
            chunk.save()
            index.add([entry_of(item, chunk.text, item.recorded_at, None)])
        return item


def made(scope: MemoryScope, **fields: Any) -> MemoryItem:
    """An item of `ItemFactory` in a scope."""
    item: MemoryItem = ItemFactory.create(scope=scope, **fields)
    return item
