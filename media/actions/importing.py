"""The actions that import: documents, pictures, sound, video, or whatever it is."""

from __future__ import annotations

from collections.abc import Callable

from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from media.actions.place import writing_target
from media.contracts.documents import AddDocumentInput, AddDocumentResult, AddMediaInput
from media.contracts.kinds import MediaType
from media.services.ingesting import Ready, apply, prepare

_INSTEAD = "Take the document away with remove_document; what it replaced can be imported again."


def _target(given: AddDocumentInput, ctx: Ctx) -> Target:
    return writing_target(given.domain_id, given.scopes, ctx)


def _as(media_type: MediaType) -> Callable[[AddDocumentInput, Ctx], Ready]:
    def read(given: AddDocumentInput, ctx: Ctx) -> Ready:
        return prepare(given, media_type, _domain(given, ctx), ctx)

    return read


def _as_said(given: AddMediaInput, ctx: Ctx) -> Ready:
    said = given.options.media_type
    return prepare(given, None if said == "auto" else MediaType(said), _domain(given, ctx), ctx)


def _domain(given: AddDocumentInput, ctx: Ctx) -> str:
    return str(_target(given, ctx).domain_id)


def _importing(name: str, summary: str, media_type: MediaType) -> Action[AddDocumentInput, AddDocumentResult, Ready]:
    return register(
        Action(
            name,
            summary,
            AddDocumentInput,
            AddDocumentResult,
            Right.WRITE,
            _target,
            _as(media_type),
            apply,
            instead=_INSTEAD,
        )
    )


ADD_DOCUMENT = _importing(
    "add_document",
    "Import a document: text, Markdown, a web page, PDF or office file, found by its sections afterwards.",
    MediaType.DOCUMENT,
)
ADD_IMAGE = _importing("add_image", "Import a picture with what is known of it.", MediaType.IMAGE)
ADD_AUDIO = _importing("add_audio", "Import sound with what is known of it.", MediaType.AUDIO)
ADD_VIDEO = _importing("add_video", "Import a video with what is known of it.", MediaType.VIDEO)
ADD_MEDIA = register(
    Action(
        "add_media",
        "Import a document, picture, sound or video; what it is follows from its name and content.",
        AddMediaInput,
        AddDocumentResult,
        Right.WRITE,
        _target,
        _as_said,
        apply,
        instead=_INSTEAD,
    )
)
