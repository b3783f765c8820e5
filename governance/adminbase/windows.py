"""Read-only windows on one table each, limited to what the signed-in person may see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils.functional import cached_property
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from governance.adminbase.asking import ctx_of
from governance.adminbase.cells import Fact, Table
from governance.adminbase.lists import FOUND, BoundedPaginator, LookAheadList, Matches, as_uuid
from governance.adminbase.sight import Per
from kernel.context import Ctx, Right
from kernel.errors import DomainError, NotFoundError
from kernel.text import show_invisible

if TYPE_CHECKING:
    from governance.adminbase.screens import Screen


def in_a_title(text: str) -> str:
    """Words with a capital at the start; what is written in capitals stays."""
    return text[:1].upper() + text[1:]


class Placed:
    """Where a page stands in the navigation; not there at all where `placed` is false."""

    group = "System"
    place = 0
    icon = "circle"
    placed = True
    opts: Any

    @property
    def link(self) -> str:
        """The address of a table's list."""
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")

    @property
    def label(self) -> str:
        """The rows' name."""
        return in_a_title(str(self.opts.verbose_name_plural))


class ReadOnlyAdmin(Placed, ModelAdmin):  # type: ignore[misc]
    """Read-only pages of one table. Rules live in the gate, so nothing is changed here.

    A page gives `visible`, its columns and `facts`. `search_fields` are plain columns matched from their start.
    `narrow_by` are the columns by which a link may narrow the list. `front` is the count's label on the front page.
    `on_page_only` are columns that lists do not read.
    `teach` says in its first sentence that there are none, and then how they come; it is said to who would see them all.
    `needs` is the right that shows a row, held on its scope, or on the whole domain or installation where `per` says so.
    `screens` are the classes of further pages below this table's address.
    """

    actions = None
    list_per_page = 50
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    paginator = BoundedPaginator
    ordering: Sequence[str] = ("-pk",)
    sortable_by: Sequence[str] = ()
    list_filter_sheet = False
    narrow_by: Sequence[str] = ()
    needs = Right.READ
    per: Per = "scope"
    teach = ""
    teach_command = ""
    front = ""
    on_page_only: Sequence[str] = ()
    screens: Sequence[type[Screen]] = ()
    change_list_template = "smartbrain/list.html"
    detail_template = "smartbrain/detail.html"

    @cached_property
    def open_screens(self) -> list[Screen]:
        """Its further pages."""
        return [screen(self) for screen in self.screens]

    def get_urls(self) -> list[URLPattern]:
        """The addresses of its further pages before those of the list and of rows."""
        urls: list[URLPattern] = super().get_urls()
        return [url for screen in self.open_screens for url in screen.urls()] + urls

    @property
    def none_there(self) -> str:
        """That there are no rows."""
        return self.teach.partition(". ")[0].removesuffix(".") + "."

    @property
    def lesson(self) -> str:
        """How rows come to be."""
        return self.teach.partition(". ")[2]

    def visible(self, ctx: Ctx) -> QuerySet[Any]:
        """The rows that the person may see."""
        raise NotImplementedError

    def facts(self, row: Any, request: HttpRequest) -> list[Fact]:
        """The labelled values of a row's page."""
        raise NotImplementedError

    def tables(self, row: Any, request: HttpRequest) -> list[Table]:
        """The small tables of a row's page."""
        return []

    def detail(self, row: Any, request: HttpRequest) -> dict[str, Any]:
        """What else the row's template needs. May raise DomainError where the gate refuses."""
        return {}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Every list, page, search and completion starts here."""
        return self.visible(ctx_of(request)).order_by(*self.ordering)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """A visible row, or None."""
        return None if "\x00" in object_id else super().get_object(request, object_id, from_field)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """The list that never counts."""
        return LookAheadList

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest | None = None) -> bool:
        """Only the page's own filters: any other column could be guessed by asking, such as the hash of a key."""
        filters = [each if isinstance(each, str) else each.parameter_name for each in self.list_filter]
        return lookup.removesuffix("__exact").removesuffix("__id") in (*self.narrow_by, *filters)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Rows of that id, or whose search columns start with the term."""
        term = term.replace("\x00", "").strip()
        if not term:
            return queryset, False
        found = self.found(term, queryset, request)
        request.META[FOUND] = found
        return found.of(queryset), False

    def found(self, term: str, rows: QuerySet[Any], request: HttpRequest) -> Matches:
        """What the search box finds among rows that the person may see."""
        return Matches(self.matches(term))

    def matches(self, term: str) -> Q:
        """What the search box looks for."""
        row_id = as_uuid(term)
        found = Q(id=row_id) if row_id else Q(pk__in=[])
        for column in self.search_fields:
            found |= Q(**{f"{column}__istartswith": term})
        return found

    def looked_at(self, rows: list[Any], request: HttpRequest) -> list[Any]:
        """The rows of one page of the list as they are shown. A page that shows content reads it here, through the gate,
        so that the look is on record."""
        return rows

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Every member of staff sees the page; its rows are limited instead."""
        return bool(request.user.is_active and request.user.is_staff)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Every member of staff sees the page; its rows are limited instead."""
        return self.has_module_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never: actions add rows."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never: actions change rows."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Never: actions take rows away."""
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list."""
        answer: HttpResponse = super().changelist_view(
            request, {"no_reach": not ctx_of(request).reach, "title": self.label}
        )
        return answer

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page of the row: what happened to it stands in the audit log."""
        return HttpResponseRedirect(reverse(self.url_name("change"), args=[object_id]))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The page of one row; a row out of sight answers like one that does not exist."""
        if object_id is None or request.method not in ("GET", "HEAD"):
            raise PermissionDenied
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            return self.missing(request, object_id)
        try:
            further = self.detail(row, request)
        except NotFoundError:
            return self.missing(request, object_id)
        except DomainError as exc:
            messages.error(request, exc.message)
            return HttpResponseRedirect(reverse(self.url_name("changelist")))
        context = {
            **self.admin_site.each_context(request),
            "title": f"{in_a_title(str(self.opts.verbose_name))}: {show_invisible(str(row))}",
            "opts": self.opts,
            "page_title": show_invisible(str(row)),
            "facts": self.facts(row, request),
            "tables": self.tables(row, request),
            **further,
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(request, self.detail_template, context)

    def missing(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The answer for a row that is not there or out of sight: both alike."""
        answer: HttpResponse = self._get_obj_does_not_exist_redirect(request, self.opts, unquote(object_id))
        return answer

    def url_name(self, page: str) -> str:
        """The name of one of this table's addresses."""
        return f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}"
