"""The documentation says what the code does: every action, setting, command and error code, and every link."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernel.actions import all_actions
from kernel.conf import Conf
from kernel.errors import all_errors
from smartbrain_site.reference import pages

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
MARKDOWN = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
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
    return set(re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE))


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
