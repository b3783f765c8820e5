"""The documentation says what the code does: every action, setting, command and error code, every link, every example."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from kernel.actions import all_actions, get
from kernel.conf import Conf
from kernel.errors import DomainError, all_errors
from memory.extraction import Said, extract
from memory.keys import GRAMMARS, check_key
from smartbrain_site import demo
from smartbrain_site.reference import pages
from tests.conftest import make_agent
from tests.doc_examples import calls, commands, differences, filled

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
MARKDOWN = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
README, HOW_TO = ROOT / "README.md", DOCS / "how-to"
COMPOSING = HOW_TO / "commit-and-compose.md"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("name", ["actions.md", "commands.md", "errors.md", "policies.md"])
def test_the_reference_is_what_the_code_says(name):
    assert (REFERENCE / name).read_text("utf-8") == pages()[name], "run manage.py export_reference"


def test_every_action_has_its_section():
    text = (REFERENCE / "actions.md").read_text("utf-8")
    assert [action.name for action in all_actions() if f"\n## {action.name}\n" not in text] == []


def test_every_error_code_is_listed_once():
    rows = re.findall(r"^\| `(\w+)` \| \d{3} \|", (REFERENCE / "errors.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(error.code for error in all_errors())


def documented_settings() -> set[str]:
    text = (REFERENCE / "settings.md").read_text("utf-8")
    return set(re.findall(r"^\| `([A-Z0-9_]+)` \|", text, re.MULTILINE))


def settings_in_code() -> set[str]:
    text = (ROOT / "smartbrain_site" / "settings.py").read_text("utf-8")
    return set(re.findall(r"env\.\w+\(\s*\"([A-Z_]+)\"", text)) | set(Conf.names())


def test_every_setting_is_documented_and_no_other():
    assert documented_settings() == settings_in_code()


@pytest.mark.parametrize("path", MARKDOWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path):
    targets = [link for link in LINK.findall(path.read_text("utf-8")) if "://" not in link]
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_every_decision_is_listed():
    listed = (DOCS / "decisions" / "README.md").read_text("utf-8")
    records = sorted(path.name for path in (DOCS / "decisions").glob("0*.md"))
    assert records
    assert [name for name in records if f"({name})" not in listed] == []


def test_every_requirement_that_is_named_is_pinned():
    for path in ROOT.glob("requirements*.txt"):
        lines = [line.partition("#")[0].strip() for line in path.read_text("utf-8").splitlines()]
        loose = [line for line in lines if line and not line.startswith("-") and "==" not in line]
        assert loose == [], path.name


def names(paths):
    return {"argvalues": paths, "ids": [str(path.relative_to(ROOT)) for path in paths]}


@pytest.mark.parametrize("path", **names([path for path in MARKDOWN if calls(path)]))
def test_every_call_answers_what_the_page_shows(path, db):
    """The calls of a page, made in order by an agent of a domain that holds the conversations of the demo."""
    agent = make_agent("documented", demo.DOMAIN)
    known: dict[str, object] = {}
    for file in sorted(demo.FOLDER.glob("*.json")):
        for turn in demo.turns(json.loads(file.read_text("utf-8"))):
            agent.do("commit_turn", turn)
    for number, example in enumerate(calls(path), 1):
        try:
            answer, refused = agent.do(example.action, filled(example.given, known)), False
        except DomainError as problem:
            answer, refused = problem.problem("r"), True
        assert refused == example.refused, (number, answer)
        assert list(differences(example.answer or {}, answer, known)) == [], (number, example.action)


@pytest.mark.parametrize("path", **names([path for path in MARKDOWN if list(commands(path))]))
def test_every_call_at_the_command_line_fits_its_action(path):
    an_id = "01890a5d-ac96-774b-bcce-b302099a8057"
    for example in commands(path):
        get(example.action).input.parse(filled(example.given, {"…": an_id}))


def test_every_answer_that_is_shown_is_compared():
    assert sum(1 for example in calls(COMPOSING) if example.answer) >= 8
    assert {example.action for example in calls(README)} >= {"commit_turn", "search_memory", "compose_context"}


def table(path: Path, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, code marks taken off."""
    _, _, section = path.read_text("utf-8").partition(f"\n## {heading}\n")
    lines = section[section.index("\n|") + 1 :].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_keys_in_the_table_fit_their_types():
    rows = table(COMPOSING, "Types and keys")
    assert [code(row[0])[0] for row in rows] == list(GRAMMARS)
    for row in rows:
        item_type = code(row[0])[0]
        shape, *examples = code(row[1]) + code(row[2])
        assert shape == GRAMMARS[item_type].shape
        assert [check_key(item_type, key) for key in examples] == examples
        assert row[4].startswith("replaced" if GRAMMARS[item_type].conflict == "overwrite" else "version")


def test_sentences_in_the_table_are_heard_as_it_says():
    rows = table(COMPOSING, "What the text itself says")
    assert len(rows) >= 10
    for words, found in rows:
        for said in code(words):
            heard = extract([Said("user", "", said)], [("task:atlas:staging", "staging cluster")])
            assert [item.key for item in heard.proposed] == code(found), said


def test_reasons_in_the_table_are_given_by_the_code():
    source = "".join(path.read_text("utf-8") for path in (ROOT / "memory").rglob("*.py"))
    reasons = [reason for row in table(COMPOSING, "Reasons") for reason in code(row[1])]
    assert len(reasons) > 30
    assert [reason for reason in reasons if f'"{reason}"' not in source and f'"{reason}:' not in source] == []


@pytest.mark.parametrize("path", **names(MARKDOWN))
def test_every_command_that_is_named_exists(path):
    text = path.read_text("utf-8")
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"(?:^|[`$ ])make ([a-z]+)(?=`|$)", text, re.MULTILINE)) <= set(targets)
    assert set(re.findall(r"manage\.py ([a-z][a-z_]+)", text)) <= set(get_commands())
    modules = re.findall(r"-m ((?:scripts|benchmarks)\.\w+)", text)
    assert [name for name in modules if not (ROOT / f"{name.replace('.', '/')}.py").exists()] == []


def test_the_pages_say_how_a_command_is_typed():
    """`./manage.py` runs with the environment that `make` makes, without anything being activated."""
    file = ROOT / "manage.py"
    assert os.access(file, os.X_OK)
    assert file.read_text("utf-8").startswith("#!/usr/bin/env -S .venv/bin/python\n")
    assert "./manage.py" in README.read_text("utf-8")
