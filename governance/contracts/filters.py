"""Filters of the review queue that people keep under a name."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from governance.contracts.proposals import ProposalFilters
from kernel.contracts import Contract, Identifier, KeyedInput, KeyedResult


class SaveFilterInput(KeyedInput):
    """A name for filters; your filter of that name is replaced."""

    name: Identifier = Field(max_length=80, description="Name, such as the label of a tab.")
    filters: ProposalFilters = Field(description="The filters, as for `list_proposals`.")
    shared: bool = Field(
        default=False,
        description="Whether other reviewers see it. One that names a scope, a proposer, a rule, a text or another "
        "proposal can be shared only within a domain that it names.",
    )
    weight: int = Field(default=100, ge=0, le=1000, description="Place among the tabs, the lightest first.")
    is_default: bool = Field(default=False, description="Whether your queue opens with it; at most one does.")


class FilterView(Contract):
    """A saved filter."""

    id: UUID = Field(description="Filter id.")
    name: str = Field(description="Its name.")
    filters: ProposalFilters = Field(description="The filters.")
    shared: bool = Field(description="Whether other reviewers see it.")
    weight: int = Field(description="Place among the tabs.")
    is_default: bool = Field(description="Whether your queue opens with it.")
    owner: str = Field(description="Name of whoever saved it.")
    mine: bool = Field(description="Whether that is you.")
    count: int | None = Field(default=None, description="Proposals that fit; null where not counted.")
    at_least: bool = Field(default=False, description="True where counting stopped at `count`.")


class FilterResult(KeyedResult):
    """The filter as it is kept."""

    filter: FilterView = Field(description="The filter.")


class DeleteFilterInput(KeyedInput):
    """Names a filter of yours."""

    id: UUID = Field(description="Filter id.")


class DeleteFilterResult(KeyedResult):
    """The filter that is gone."""

    id: UUID = Field(description="Filter id.")


class ListFiltersInput(Contract):
    """Whether to count what fits."""

    counts: bool = Field(default=False, description="Whether to count the proposals of each.")


class ListFiltersResult(Contract):
    """Your filters and those shared with you, the lightest first."""

    filters: list[FilterView] = Field(description="100 at most.")
