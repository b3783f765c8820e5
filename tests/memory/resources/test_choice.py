"""Which store is asked."""

from __future__ import annotations

from dataclasses import replace

from kernel.conf import conf
from memory.compose.policy import RetrievalPolicy
from memory.resources import client_for
from tests.memory.compose.made import a_plan
from tests.memory.resources.test_http import PATH, SCOPED, pack
from tests.memory.serving import PATIENCE, answer, serving

WANTED = a_plan("请查资料")


def test_it_works(settings):
    with serving(answer(pack())) as (address, seen):
        settings.SMARTBRAIN = replace(
            conf(), resource_url=address + PATH, resource_api_key="k", resource_timeout=PATIENCE
        )
        found = client_for(WANTED, RetrievalPolicy()).retrieve(WANTED)
        nothing = client_for(a_plan("hello there"), RetrievalPolicy()).retrieve(a_plan("hello there"))
    assert len(found.evidences) == 1
    assert "disabled" in nothing.warnings[0]
    assert len(seen) == 1
    assert seen[0][1]["authorization"] == "Bearer k"


def test_without_an_address_there_is_none(settings):
    settings.SMARTBRAIN = replace(conf(), resource_url="")
    assert "no document store" in client_for(WANTED, RetrievalPolicy()).retrieve(WANTED).warnings[0]


def test_the_policy_decides_about_scopes(settings):
    plan = SCOPED.model_copy(update={"resource_retrieval": WANTED.resource_retrieval})
    with serving(answer(pack())) as (address, _):
        settings.SMARTBRAIN = replace(conf(), resource_url=address + PATH, resource_timeout=PATIENCE)
        closed = client_for(plan, RetrievalPolicy()).retrieve(plan)
        warned = client_for(plan, RetrievalPolicy(scope_filter="warn")).retrieve(plan)
    assert (len(closed.evidences), len(warned.evidences)) == (0, 1)
