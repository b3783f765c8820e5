"""Learning from text with a language model: off unless configured, and never more than candidates."""

from __future__ import annotations

from memory.modelling.client import ChatClient, ModelReplyError, configured_client
from memory.modelling.reply import ModelItem, ModelReply, read_reply

__all__ = ["ChatClient", "ModelItem", "ModelReply", "ModelReplyError", "configured_client", "read_reply"]
