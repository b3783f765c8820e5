"""Markdown of agents as safe HTML: no markup of theirs, no address that a click or the page itself would follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from kernel.text import show_invisible

MOST = 100_000  # characters; a longer text is shown as source


class _Renderer(RendererHTML):
    """Links and pictures as text with their address beside it; headings below those of the page."""

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """A link begins."""
        env.setdefault("links", []).append(str(tokens[idx].attrGet("href") or ""))
        return '<span class="sb-inert">'

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """A link ends: where it would lead is said."""
        return f" <code>{escape(env['links'].pop())}</code></span>"

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """A picture is not fetched."""
        token = tokens[idx]
        return f'<span class="sb-inert">[picture: {escape(token.content)}] <code>{escape(token.attrGet("src"))}</code></span>'

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """A heading as a strong line: the outline of the page is the page's own."""
        return '<p class="sb-md-heading"><strong>'

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """A heading ends."""
        return "</strong></p>\n"


_markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table").enable("strikethrough")


def render(text: str) -> SafeString | None:
    """The text as HTML in which every tag is ours; None where it is too long to render."""
    if len(text) > MOST:
        return None
    return SafeString(_markdown.render(show_invisible(text)))
