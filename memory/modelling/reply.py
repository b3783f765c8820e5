"""Reading a model's answer: all of it or nothing."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kernel.contracts import Contract
from kernel.errors import DomainError
from kernel.wire import check_tree, read_object
from memory.contracts.items import MemoryType
from memory.keys import check_key
from memory.modelling.client import ModelReplyError

_FENCE = "```"


class ModelItem(Contract):
    """One thing that the model would remember."""

    type: MemoryType = Field(description="Memory type.")
    key: str = Field(min_length=1, max_length=500, description="Key in the grammar of the type.")
    statement: str = Field(min_length=1, max_length=2000, pattern=r"\S", description="One sentence.")
    confidence: float = Field(ge=0, le=1, description="How sure, 0 to 1.")


class ModelReply(Contract):
    """A whole answer."""

    items: Annotated[list[ModelItem], Field(max_length=50, description="What to remember; may be empty.")]


def read_reply(text: str) -> ModelReply:
    """The answer as checked items, keys normalised. A fence around the whole object is taken off.

    Raises ModelReplyError, with the reply, for anything else: nothing of a bad answer is used.
    """
    try:
        tree = read_object(_without_fence(text))
        check_tree(tree)
        reply = ModelReply.parse(tree)
        return ModelReply(
            items=[item.model_copy(update={"key": check_key(item.type, item.key)}) for item in reply.items]
        )
    except DomainError as exc:
        raise ModelReplyError(f"The model's answer cannot be used: {exc.message}", text) from exc
    except ValueError as exc:
        raise ModelReplyError(f"The model's answer cannot be used: {exc}", text) from exc


def _without_fence(text: str) -> str:
    inner = text.strip()
    if inner.startswith(_FENCE) and inner.endswith(_FENCE) and len(inner) > 2 * len(_FENCE):
        first, _, rest = inner[: -len(_FENCE)].partition("\n")
        return rest if first in (_FENCE, f"{_FENCE}json") else inner
    return inner
