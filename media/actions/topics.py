"""Actions on topics."""

from __future__ import annotations

from uuid import UUID

from kernel.actions import Action, Applied, Target, register
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError
from kernel.paging import page
from media.actions.place import domain_target, own_target, writing_target
from media.contracts.filing import (
    AddDocumentToTopicResult,
    CreateTopicInput,
    DeleteTopicInput,
    DeleteTopicResult,
    GetTopicInput,
    GetTopicResult,
    ListTopicsInput,
    ListTopicsResult,
    RemoveDocumentFromTopicResult,
    TopicDocumentInput,
    TopicRecommendationsInput,
    TopicRecommendationsResult,
    TopicRef,
    TopicResult,
    UpdateTopicInput,
)
from media.models import SourceDocument, Topic
from media.selectors.documents import get_document
from media.selectors.filing import (
    documents_in_topic,
    get_topic,
    sharing_tags,
    view_topic_documents,
    view_topics,
    visible_topics,
)
from media.selectors.sight import domain_of
from media.services import topics
from media.services.sharing import locked


def _seen(given: TopicRef, ctx: Ctx) -> Target:
    return Target(get_topic(given.topic_id, ctx).domain_id, scopes=())


def _owned(given: TopicRef, ctx: Ctx) -> Target:
    row = get_topic(given.topic_id, ctx)
    if row.owner_id != ctx.actor.id:
        raise ForbiddenError("Only the owner of a topic may do this.")
    return own_target(row.domain_id, ctx)


def _found(given: TopicRef, ctx: Ctx) -> Topic:
    return get_topic(given.topic_id, ctx)


def _view(row: Topic, ctx: Ctx) -> TopicResult:
    return TopicResult(topic=view_topics([row], ctx)[0])


def _documents(given: CreateTopicInput, ctx: Ctx) -> list[SourceDocument]:
    domain_id = domain_of(given.domain_id, ctx)
    return [_in_domain(document_id, domain_id, ctx) for document_id in dict.fromkeys(given.document_ids)]


def _in_domain(document_id: UUID, domain_id: str, ctx: Ctx) -> SourceDocument:
    row = get_document(document_id, ctx)
    if row.domain_id != domain_id:
        raise ForbiddenError("A topic gathers documents of its own domain.")
    return row


def _create(given: CreateTopicInput, documents: list[SourceDocument], ctx: Ctx) -> Applied[TopicResult]:
    held = [locked(each) for each in sorted(documents, key=lambda row: row.pk)]
    row, changes = topics.create(given, domain_of(given.domain_id, ctx), held, ctx)
    return _view(row, ctx), changes


CREATE_TOPIC = register(
    Action(
        "create_topic",
        "Make a topic of your own and gather documents in it.",
        CreateTopicInput,
        TopicResult,
        Right.WRITE,
        lambda given, ctx: writing_target(given.domain_id, (), ctx),
        _documents,
        _create,
        instead="Take the topic away with delete_topic.",
    )
)


def _get(given: GetTopicInput, ctx: Ctx) -> GetTopicResult:
    row = get_topic(given.topic_id, ctx)
    found, cursor = page(documents_in_topic(row, ctx), given, "id", UUID, newest_first=True)
    return GetTopicResult(
        topic=view_topics([row], ctx)[0], documents=view_topic_documents(row, found), next_cursor=cursor
    )


GET_TOPIC = register(
    Action(
        "get_topic",
        "Show a topic and a page of its documents that you may see.",
        GetTopicInput,
        GetTopicResult,
        Right.READ,
        _seen,
        _get,
    )
)


def _list(given: ListTopicsInput, ctx: Ctx) -> ListTopicsResult:
    rows = visible_topics(ctx).filter(domain_id=domain_of(given.domain_id, ctx))
    found, cursor = page(rows, given, "id", UUID, newest_first=True)
    return ListTopicsResult(topics=view_topics(found, ctx), next_cursor=cursor)


LIST_TOPICS = register(
    Action(
        "list_topics",
        "List the topics that you may see in one domain, newest first.",
        ListTopicsInput,
        ListTopicsResult,
        Right.READ,
        lambda given, ctx: domain_target(given.domain_id, ctx),
        _list,
        resource="topics",
    )
)


def _update(given: UpdateTopicInput, row: Topic, ctx: Ctx) -> Applied[TopicResult]:
    row, changes = topics.update(row, given)
    return _view(row, ctx), changes


UPDATE_TOPIC = register(
    Action(
        "update_topic",
        "Change the title, description or tags of a topic of yours.",
        UpdateTopicInput,
        TopicResult,
        Right.WRITE,
        _owned,
        _found,
        _update,
        instead="Change the topic back to what it was.",
    )
)


def _delete(given: DeleteTopicInput, row: Topic, ctx: Ctx) -> Applied[DeleteTopicResult]:
    return DeleteTopicResult(topic_id=row.pk), topics.delete(row)


DELETE_TOPIC = register(
    Action(
        "delete_topic",
        "Take a topic of yours away; its documents stay.",
        DeleteTopicInput,
        DeleteTopicResult,
        Right.WRITE,
        _owned,
        _found,
        _delete,
        destroys=True,
        instead="Make the topic again with create_topic.",
    )
)


def _both(given: TopicDocumentInput, ctx: Ctx) -> tuple[Topic, SourceDocument]:
    row = get_topic(given.topic_id, ctx)
    return row, _in_domain(given.document_id, row.domain_id, ctx)


def _add(given: TopicDocumentInput, both: tuple[Topic, SourceDocument], ctx: Ctx) -> Applied[AddDocumentToTopicResult]:
    count, changes = topics.gather(both[0], locked(both[1]))
    return AddDocumentToTopicResult(added_sections=count), changes


ADD_DOCUMENT_TO_TOPIC = register(
    Action(
        "add_document_to_topic",
        "Gather all sections of a document in a topic of yours.",
        TopicDocumentInput,
        AddDocumentToTopicResult,
        Right.WRITE,
        _owned,
        _both,
        _add,
        instead="Take the document out with remove_document_from_topic.",
    )
)


def _remove(
    given: TopicDocumentInput, both: tuple[Topic, SourceDocument], ctx: Ctx
) -> Applied[RemoveDocumentFromTopicResult]:
    count, changes = topics.release(both[0], locked(both[1]))
    return RemoveDocumentFromTopicResult(deleted_sections=count), changes


REMOVE_DOCUMENT_FROM_TOPIC = register(
    Action(
        "remove_document_from_topic",
        "Take all sections of a document out of a topic of yours.",
        TopicDocumentInput,
        RemoveDocumentFromTopicResult,
        Right.WRITE,
        _owned,
        _both,
        _remove,
        instead="Gather the document again with add_document_to_topic.",
    )
)


def _recommend(given: TopicRecommendationsInput, ctx: Ctx) -> TopicRecommendationsResult:
    row = get_topic(given.topic_id, ctx)
    return TopicRecommendationsResult(recommendations=sharing_tags(row, ctx, given.limit))


GET_TOPIC_RECOMMENDATIONS = register(
    Action(
        "get_topic_recommendations",
        "Name other topics that share tags with a topic, those that share most first.",
        TopicRecommendationsInput,
        TopicRecommendationsResult,
        Right.READ,
        _seen,
        _recommend,
    )
)
