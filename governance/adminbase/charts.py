"""Charts drawn on the server as inline SVG, each with its figures in a table for those who do not see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

WIDTH, HEIGHT, FOOT = 960, 120, 20  # units of the drawing; it scales with the page
MOST_LABELS = 8


@dataclass(frozen=True, slots=True)
class Series:
    """One row of figures. `tone` (good, bad, warn, plain) chooses colour and pattern; the name is always written."""

    name: str
    values: Sequence[int]
    tone: str = "plain"


@dataclass(frozen=True, slots=True)
class _Bar:
    x: float
    y: float
    width: float
    height: float
    tone: str


@dataclass(frozen=True, slots=True)
class _Label:
    x: float
    text: str


def bars(title: str, labels: Sequence[str], series: Sequence[Series], empty: str, each: str = "When") -> SafeString:
    """Stacked bars, one for each label; `empty` is said where every figure is nought. `title` and the labels are plain
    text, and `each` is what a label names. Each series has as many values as there are labels."""
    sums = [sum(one.values[place] for one in series) for place in range(len(labels))]
    top = max(sums, default=0)
    step = WIDTH / max(len(labels), 1)
    drawn: list[_Bar] = []
    for place in range(len(labels) if top else 0):
        floor = float(HEIGHT - FOOT)
        for one in series:
            height = (HEIGHT - FOOT - 14) * one.values[place] / top
            floor -= height
            if height:
                drawn.append(
                    _Bar(round(place * step + 1, 2), round(floor, 2), round(step - 2, 2), round(height, 2), one.tone)
                )
    every = max(1, -(-len(labels) // MOST_LABELS))
    marks = [
        _Label(round((place + 0.5 if place else 0) * step, 2), labels[place]) for place in range(0, len(labels), every)
    ]
    rows = [(label, [one.values[place] for one in series]) for place, label in enumerate(labels)]
    return render_to_string(
        "smartbrain/chart.html",
        {
            "title": title,
            "each": each,
            "series": [(one.name, one.tone, sum(one.values)) for one in series],
            "bars": drawn,
            "marks": marks,
            "rows": rows,
            "top": top,
            "empty": empty,
            "width": WIDTH,
            "height": HEIGHT,
            "floor": HEIGHT - FOOT,
        },
    )
