"""Saved filters of the review queue."""

from __future__ import annotations

from governance import selectors, services
from governance.actions.proposals.rules import require_person
from governance.contracts import (
    DeleteFilterInput,
    DeleteFilterResult,
    FilterResult,
    ListFiltersInput,
    ListFiltersResult,
    SaveFilterInput,
)
from kernel.actions import Action, Applied, Target, register
from kernel.context import Ctx, Right
from kernel.errors import InvalidInputError
from scopes.selectors import require_domain


def _its_domain(given: SaveFilterInput, ctx: Ctx) -> Target:
    domain_id = given.filters.domain_id
    if domain_id is not None:
        require_domain(domain_id, ctx)
    return Target(domain_id, scopes=())


def _check(given: SaveFilterInput, ctx: Ctx) -> None:
    require_person(ctx)
    if given.shared and given.filters.domain_id is None and selectors.tells(given.filters):
        raise InvalidInputError(
            "A shared filter that names a scope, a proposer, an action, a rule, a text or a proposal must name its"
            " domain too: give `domain_id`."
        )


def _save(given: SaveFilterInput, prepared: None, ctx: Ctx) -> Applied[FilterResult]:
    row, change = services.save_filter(given, ctx)
    return FilterResult(filter=selectors.view_filter(row, ctx)), [change]


SAVE_FILTER = register(
    Action(
        "save_filter",
        "Keep filters of the review queue under a name, for yourself or shared.",
        SaveFilterInput,
        FilterResult,
        Right.READ,
        _its_domain,
        _check,
        _save,
        queueable=False,
    )
)


def _nowhere(given: DeleteFilterInput | ListFiltersInput, ctx: Ctx) -> Target:
    return Target(None, scopes=())


def _its_row(given: DeleteFilterInput, ctx: Ctx) -> Target:
    return Target(selectors.get_filter(given.id, ctx).domain_id, scopes=())


def _prepare_deletion(given: DeleteFilterInput, ctx: Ctx) -> None:
    require_person(ctx)


def _delete(given: DeleteFilterInput, prepared: None, ctx: Ctx) -> Applied[DeleteFilterResult]:
    return DeleteFilterResult(id=given.id), [services.delete_filter(given.id, ctx)]


DELETE_FILTER = register(
    Action(
        "delete_filter",
        "Delete one of your saved filters.",
        DeleteFilterInput,
        DeleteFilterResult,
        Right.READ,
        _its_row,
        _prepare_deletion,
        _delete,
        queueable=False,
    )
)


def _list(given: ListFiltersInput, ctx: Ctx) -> ListFiltersResult:
    return ListFiltersResult(filters=selectors.list_filters(ctx, counts=given.counts))


LIST_FILTERS = register(
    Action(
        "list_filters",
        "List your saved filters and those shared with you, with counts if asked for.",
        ListFiltersInput,
        ListFiltersResult,
        Right.READ,
        _nowhere,
        _list,
    )
)
