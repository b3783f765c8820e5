"""Documents that both databases are given, and the plans by which they are asked for them."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.equal.inputs import WORDS, Tree, chosen, json_objects, merged, moments, places, questions, scope_refs, texts

SOURCES = ["https://example.com/数据库", "https://example.com/A", "https://example.com/a", "x:1"]
TAGS = ["Plans", "ｐｌａｎｓ", "数据库", "Straße"]
LANGUAGES = ["en", "zh", "zh_tw", "de"]


def paper(parts: list[tuple[str, list[str]]]) -> str:
    """Markdown of sections with a heading and paragraphs each."""
    return "".join("\n\n".join([f"## {heading}", *said, ""]) for heading, said in parts)


papers = st.lists(
    st.tuples(st.sampled_from(WORDS), st.lists(texts, min_size=1, max_size=2)), min_size=1, max_size=4
).map(paper)

documents = st.fixed_dictionaries(
    {
        "options": st.fixed_dictionaries(
            {"text": papers},
            optional=chosen(
                source_uri=st.sampled_from(SOURCES),
                title=st.sampled_from(WORDS).filter(str.strip),
                author=st.sampled_from(["Ann", "安"]),
                publication_date=st.sampled_from(["0001-01-01", "2026-02-28", "2026-03-01", "9999-12-31"]),
                language=st.sampled_from(LANGUAGES),
                tags=st.lists(st.sampled_from(TAGS), max_size=2),
                metadata=json_objects,
                description=texts,
            ),
        )
    },
    optional=chosen(scopes=st.lists(scope_refs, max_size=2)),
)

_filters = st.fixed_dictionaries(
    {},
    optional=chosen(
        source_type=st.sampled_from(["manual", ["manual", "url"], "file"]),
        source_uri_prefix=st.sampled_from(["https://example.com/", "https://example.com/a", "x"]),
        language=st.sampled_from(["zh", ["en", "de"]]),
        media_type=st.sampled_from(["document", ["document", "image"]]),
        time_range=st.fixed_dictionaries({}, optional={"from": moments, "to": moments}),
    ),
)

PLAN: Tree = {"version": "0.1", "request_id": "01a22ffd-c3f2-7c9a-9451-3528953149e0", "purpose": "qa", "budget": {}}

plans = st.fixed_dictionaries(
    {
        **{name: st.just(value) for name, value in PLAN.items()},
        "queries": st.lists(
            st.fixed_dictionaries(
                {"text": questions},
                optional=chosen(
                    mode=st.sampled_from(["exact", "hybrid", "semantic", "associative"]),
                    weight=st.sampled_from([0.1, 1 / 3, 2.0]),
                    filters=_filters,
                    hints=st.sampled_from([{"weak": True}, {"expanded": True}]),
                ),
            ),
            min_size=1,
            max_size=3,
        ),
        "budget": st.sampled_from(
            [{}, {"top_k": 2}, {"candidate_k": 3}, {"diversity": {"by_document": 1}}, {"diversity": {"by_source": 9}}]
        ),
    },
    optional=chosen(
        filters=_filters,
        ranking=st.fixed_dictionaries(
            {},
            optional=chosen(
                fusion=st.sampled_from(["rrf", "weighted_sum", "none"]).map(lambda method: {"method": method}),
                tie_breaker=st.sampled_from(["recency", "source_priority", "none"]),
            ),
        ),
        output=st.sampled_from([{"max_snippet_chars": 20}, {"snippet_policy": "head"}, {"include_raw": True}]),
    ),
)

retrievals = st.builds(merged, st.fixed_dictionaries({"plan": plans}), st.one_of(st.just({}), places))
