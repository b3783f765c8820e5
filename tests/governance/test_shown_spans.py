"""Spans of time as pages tell them."""

from __future__ import annotations

import pytest

from governance.templatetags.smartbrain import span


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (None, "–"),
        (0, "0 seconds"),
        (1, "1 second"),
        (1.4, "1 second"),
        (59.7, "1 minute"),
        (60, "1 minute"),
        (90, "1.5 minutes"),
        (3_600, "1 hour"),
        (86_400, "1 day"),
        (172_800, "2 days"),
    ],
)
def test_it_works(seconds, told):
    assert span(seconds) == told
