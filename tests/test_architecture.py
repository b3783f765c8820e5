"""The shape of the code, checked: sizes, where vendors and the environment may be read, jobs, names and words."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path

import pytest
from pydantic import BaseModel

from kernel.actions import all_actions

pytestmark = pytest.mark.once  # it reads the source

ROOT = Path(__file__).resolve().parent.parent
APPS = ("kernel", "scopes", "governance", "search", "media", "memory", "cards", "legacy", "smartbrain_site")
MAX_LINES = 400
MAY_READ_ENVIRONMENT = {"smartbrain_site/settings.py"}
MAY_SET_SETTINGS_MODULE = {"manage.py", "smartbrain_site/asgi.py", "smartbrain_site/embedded.py"}
ROOT_ALLOWED = {
    ".ci", ".dockerignore", ".editorconfig", ".env.example", ".gitattributes", ".gitignore", ".importlinter",
    ".pre-commit-config.yaml", ".python-version",
    "CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile", "LICENSE", "Makefile", "README.md", "SECURITY.md",
    "compose.yaml", "manage.py", "pyproject.toml",
    "benchmarks", "demo", "docs", "schemas", "scripts", "static", "templates", "tests", *APPS,
}  # fmt: skip
REQUIREMENTS = re.compile(r"requirements(-[a-z0-9]+)?\.txt")
# Written apart, so that this file does not hold what it forbids.
FORBIDDEN_WORDS = [
    *("py" + "pi.org", "files.python" + "hosted", "npm" + "js.org", "crates" + ".io", "proxy.golang" + ".org"),
    *("/ho" + "me/", "/Us" + "ers/", "/ro" + "ot/", "/wo" + "rk/", "/tmp/" + "sb", "C:\\" + "Users"),
]


@lru_cache(maxsize=1)
def committed() -> tuple[str, ...]:
    """Every file under version control, and every new one that is not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    return tuple(sorted({name for name in listed.stdout.split("\x00") if name and (ROOT / name).is_file()}))


def product() -> list[str]:
    """The Python files of the product."""
    return [name for name in committed() if name.endswith(".py") and name.split("/")[0] in (*APPS, "manage.py")]


def written() -> list[str]:
    """The product's Python files that people write: migrations are made."""
    return [name for name in product() if "/migrations/" not in name]


@lru_cache(maxsize=512)
def tree_of(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text("utf-8"), name)


def attributes(name: str) -> Iterator[str]:
    """Every dotted name in a file."""
    for node in ast.walk(tree_of(name)):
        if isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def test_it_works():
    assert "kernel/db.py" in written()
    assert "manage.py" in written()
    assert len(written()) > 30


def test_files_stay_short():
    long = {
        name: lines for name in written() if (lines := len((ROOT / name).read_text("utf-8").splitlines())) > MAX_LINES
    }
    assert not long, "split these by noun into a package of the same name"


def test_only_kernel_db_knows_the_vendor():
    found = {
        name
        for name in written()
        if name != "kernel/db.py" and any(dotted.endswith(".vendor") for dotted in attributes(name))
    }
    assert not found, "every difference between the databases lives in kernel/db.py"


def test_only_the_settings_read_the_environment():
    found = {
        name
        for name in written()
        if name not in MAY_READ_ENVIRONMENT
        for dotted in attributes(name)
        if dotted in {"os.environ", "os.getenv", "environ.Env", "environ.FileAwareEnv"}
        and not (name in MAY_SET_SETTINGS_MODULE and _only_sets_the_settings_module(name))
    }
    assert not found, "read the setting from kernel.conf instead"


def _only_sets_the_settings_module(name: str) -> bool:
    """Whether each use of the environment in the file is `os.environ.setdefault("DJANGO_SETTINGS_MODULE", ...)`."""
    calls = [
        node
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "os.environ.setdefault"
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == "DJANGO_SETTINGS_MODULE"
    ]
    return len(calls) == sum(dotted == "os.environ" for dotted in attributes(name))


def test_the_environment_is_not_imported_by_name():
    found = {
        name
        for name in written()
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.ImportFrom)
        and node.module == "os"
        and {a.name for a in node.names} & {"environ", "getenv"}
    }
    assert not found


def job_names() -> list[tuple[str, str]]:
    """Every job named in a call of `enqueue`, `enqueue_later` or `every`: file and dotted path, '' where it is no plain text."""
    found = []
    for name in written():
        for node in ast.walk(tree_of(name)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func).rpartition(".")[2]
            place = {"enqueue": 0, "enqueue_later": 1, "every": 1}.get(called)
            if place is None or name == "kernel/queue.py":
                continue
            given = [*node.args, *(word.value for word in node.keywords if word.arg == "job")]
            job = next((arg for arg in given[place:] if isinstance(arg, ast.Constant)), None)
            found.append((name, str(job.value) if job else ""))
    return found


def test_every_job_resolves():
    for name, job in job_names():
        module, _, function = job.rpartition(".")
        assert module.endswith(".jobs"), (
            f"{name}: a job is named by a plain dotted path into some jobs.py, not {job!r}"
        )
        assert callable(getattr(import_module(module), function, None)), f"{name}: {job} does not exist"


def test_no_drawer_for_odds_and_ends():
    found = [name for name in written() if Path(name).stem in {"utils", "util", "helpers", "helper", "misc", "common"}]
    assert not found, "name a module after its one job"


def test_the_root_holds_only_what_is_allowed():
    found = {name.split("/")[0] for name in committed()} - ROOT_ALLOWED
    assert not {name for name in found if not REQUIREMENTS.fullmatch(name)}


def test_every_module_says_its_one_job():
    for name in written():
        if Path(name).name == "apps.py" or not (ROOT / name).read_text("utf-8").strip():
            continue
        doc = cleandoc(ast.get_docstring(tree_of(name)) or "")
        first = doc.split("\n\n")[0].strip()
        assert re.search(r"[.:]\s|[.:]$", first), f"{name} has no docstring with a sentence"
        assert len(first.split()) >= 3, f"{name}: say its one job"


def test_every_action_has_a_summary():
    for action in all_actions():
        assert re.fullmatch(r"[A-Z].{15,}\.", action.summary, re.DOTALL), action.name
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", action.name), action.name


def contracts_of(model: type[BaseModel], seen: set[type[BaseModel]]) -> None:
    if model in seen:
        return
    seen.add(model)
    for field in model.model_fields.values():
        for inner in _models_in(field.annotation):
            contracts_of(inner, seen)


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in getattr(annotation, "__args__", ()):
        yield from _models_in(inner)


def test_every_contract_field_is_described():
    seen: set[type[BaseModel]] = set()
    for action in all_actions():
        contracts_of(action.input, seen)
        contracts_of(action.output, seen)
    assert len(seen) > 20
    missing = []
    for model in seen:
        missing += [f"{model.__name__}.{name}" for name, field in model.model_fields.items() if not field.description]
        assert model.__doc__, model.__name__
    assert not missing, "agents read these descriptions: write them"


@pytest.mark.parametrize("word", FORBIDDEN_WORDS)
def test_no_registry_and_no_machine_path_is_committed(word):
    found = [name for name in committed() if word.encode() in (ROOT / name).read_bytes()]
    assert not found
