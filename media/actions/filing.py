"""Actions on tags: list them, file sections under them, put them in their place in the tree, take them away."""

from __future__ import annotations

from uuid import UUID

from kernel.actions import Action, Applied, Target, register
from kernel.context import ANY, Ctx, Right
from kernel.errors import ForbiddenError
from kernel.paging import page
from media.actions.place import domain_target, own_document, own_target
from media.contracts.filing import (
    DeleteTagInput,
    DeleteTagResult,
    ListTagsInput,
    ListTagsResult,
    MoveTagInput,
    MoveTagResult,
    TagSectionsInput,
    TagSectionsResult,
)
from media.models import SourceDocument, Tag
from media.selectors.documents import get_document
from media.selectors.filing import get_tag, sections_named, view_tags, visible_tags
from media.selectors.sight import domain_of
from media.services.sharing import locked
from media.services.tagging import delete_tag, ensure_tags, move_tag, tag_sections, untag_sections
from scopes.selectors import held


def _list(given: ListTagsInput, ctx: Ctx) -> ListTagsResult:
    rows = visible_tags(ctx).filter(domain_id=domain_of(given.domain_id, ctx))
    found, cursor = page(rows, given, "id", UUID)
    return ListTagsResult(tags=view_tags(found, ctx), next_cursor=cursor)


LIST_TAGS = register(
    Action(
        "list_tags",
        "List the tags of the sections that you may see in one domain.",
        ListTagsInput,
        ListTagsResult,
        Right.READ,
        lambda given, ctx: domain_target(given.domain_id, ctx),
        _list,
        resource="tags",
    )
)


def _tag_target(given: TagSectionsInput, ctx: Ctx) -> Target:
    return own_document(get_document(given.document_id, ctx), ctx)


def _to_tag(given: TagSectionsInput, ctx: Ctx) -> SourceDocument:
    document = get_document(given.document_id, ctx)
    sections_named(document, given.section_ids)
    return document


def _tag(given: TagSectionsInput, document: SourceDocument, ctx: Ctx) -> Applied[TagSectionsResult]:
    sections = sections_named(locked(document), given.section_ids)
    tags, changes = ensure_tags(document.domain_id, given.tags)
    gone = untag_sections(sections, tags) if given.replace else []
    new = tag_sections(sections, tags)
    added = sum(change.after["sections"] for change in new if change.after)
    removed = sum(change.before["sections"] for change in gone if change.before)
    return TagSectionsResult(added=added, removed=removed), [*changes, *gone, *new]


TAG_SECTIONS = register(
    Action(
        "tag_sections",
        "File a document of yours, or some of its sections, under tags.",
        TagSectionsInput,
        TagSectionsResult,
        Right.WRITE,
        _tag_target,
        _to_tag,
        _tag,
        instead="File the sections again under the tags that they had.",
    )
)


def _move_target(given: MoveTagInput, ctx: Ctx) -> Target:
    return own_target(get_tag(given.tag_id, ctx).domain_id, ctx)


def _found_tag(given: MoveTagInput | DeleteTagInput, ctx: Ctx) -> Tag:
    return get_tag(given.tag_id, ctx)


def _move(given: MoveTagInput, tag: Tag, ctx: Ctx) -> Applied[MoveTagResult]:
    changes = move_tag(tag, given.parent, ctx, create=given.create_parent)
    tag.refresh_from_db()
    return MoveTagResult(tag=view_tags([tag], ctx)[0]), changes


MOVE_TAG = register(
    Action(
        "move_tag",
        "Put a tag below another one in the tree, or at the top; never below itself.",
        MoveTagInput,
        MoveTagResult,
        Right.WRITE,
        _move_target,
        _found_tag,
        _move,
        instead="Move the tag back to where it was.",
    )
)


def _delete_target(given: DeleteTagInput, ctx: Ctx) -> Target:
    domain_id = get_tag(given.tag_id, ctx).domain_id
    if not given.everywhere:
        return own_target(domain_id, ctx)
    if Right.ERASE not in held(ctx, domain_id, ANY):
        raise ForbiddenError(
            "Only whoever may erase in the whole domain takes a tag off all of it: leave out everywhere."
        )
    return Target(domain_id)


def _delete(given: DeleteTagInput, tag: Tag, ctx: Ctx) -> Applied[DeleteTagResult]:
    removed, changes = delete_tag(tag, ctx, everywhere=given.everywhere)
    seen = visible_tags(ctx).filter(pk=tag.pk).exists()
    return DeleteTagResult(tag_id=tag.pk, removed=removed, still_seen=seen), changes


DELETE_TAG = register(
    Action(
        "delete_tag",
        "Take a tag off your own sections and topics, or off all of the domain; once nothing is filed under it, tags below "
        "it stand at the top.",
        DeleteTagInput,
        DeleteTagResult,
        Right.WRITE,
        _delete_target,
        _found_tag,
        _delete,
        destroys=True,
        instead="File the sections under the tag again with tag_sections.",
    )
)
