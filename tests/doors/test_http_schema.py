from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from jsonschema import Draft202012Validator

from kernel.actions import all_actions
from kernel.contracts import KeyedInput
from media.contracts.retrieval.lenient import Lenient
from smartbrain_site.http import openapi
from tests.doors.http import Http

SCHEMAS = openapi.document()["components"]["schemas"]
PATHS = openapi.document()["paths"]


def test_it_works():
    response = Http().get("/v1/schema/")
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")
    assert response.json() == openapi.document()
    assert response.json()["openapi"] == "3.1.0"


def test_the_committed_document_is_the_present_one(tmp_path):
    call_command("export_schemas", to=tmp_path, verbosity=0)
    committed = sorted(path.name for path in (settings.BASE_DIR / "schemas").iterdir())
    assert sorted(path.name for path in tmp_path.iterdir()) == committed
    for name in committed:
        made = (tmp_path / name).read_text("utf-8")
        assert made == (Path(settings.BASE_DIR) / "schemas" / name).read_text("utf-8"), (
            f"schemas/{name} is out of date: run manage.py export_schemas"
        )


def test_every_action_and_resource_has_an_address_and_nothing_else_has():
    actions = {f"/v1/{action.name}" for action in all_actions()}
    resources = {f"/v1/{action.resource}" for action in all_actions() if action.resource}
    of_older_clients = {"/v1/media", *(f"/v1/media/jobs/{{job_id}}{step}" for step in ("", "/cancel", "/retry"))}
    others = {"/healthz", "/v1/documents/{document_id}/content"} | of_older_clients
    assert set(PATHS) == actions | resources | others
    assert all(set(PATHS[path]) == {"post"} for path in actions)
    assert all(set(PATHS[path]) == {"get"} for path in resources)


def test_operation_ids_are_unique():
    ids = [operation["operationId"] for path in PATHS.values() for operation in path.values()]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("action", list(all_actions()), ids=lambda action: action.name)
def test_an_action_is_documented_by_its_own_contracts(action):
    operation = PATHS[f"/v1/{action.name}"]["post"]
    given = SCHEMAS[_name(operation["requestBody"]["content"]["application/json"]["schema"])]
    answer = SCHEMAS[_name(operation["responses"]["200"]["content"]["application/json"]["schema"])]
    own = action.input.model_json_schema()
    assert given["properties"].keys() == own.get("properties", {}).keys()
    assert set(given.get("required", [])) == set(own.get("required", []))
    assert given["additionalProperties"] is False
    assert issubclass(action.output, Lenient) or answer["additionalProperties"] is False
    assert answer["properties"].keys() == action.output.model_fields.keys()
    assert ("202" in operation["responses"]) == ("409" in operation["responses"]) == (action.apply is not None)
    assert bool(operation.get("parameters")) == issubclass(action.input, KeyedInput)
    assert {"400", "401", "403", "404", "413", "415", "422", "429", "500", "503"} <= set(operation["responses"])
    assert "416" not in operation["responses"], "only a download is given in parts"
    assert operation["security"] == [{"apiKey": []}]


@pytest.mark.parametrize(
    "action", [action for action in all_actions() if action.resource], ids=lambda action: action.resource
)
def test_a_resource_takes_the_fields_of_its_input_as_query_parameters(action):
    operation = PATHS[f"/v1/{action.resource}"]["get"]
    parameters = {parameter["name"]: parameter for parameter in operation["parameters"]}
    assert parameters.keys() == action.input.model_fields.keys()
    for name, field in action.input.model_fields.items():
        assert parameters[name]["required"] == field.is_required()
        assert parameters[name]["description"]
        assert {"type": "null"} not in parameters[name]["schema"].get("anyOf", [])
    assert "requestBody" not in operation


def test_every_schema_is_closed_but_free_data_and_problems():
    open_ones = {name for name, schema in SCHEMAS.items() if "properties" in schema and _is_open(schema)}
    protocol = {model.__name__ for model in Lenient.__subclasses__()}  # that of retrieval may grow
    assert open_ones == (protocol & SCHEMAS.keys()) | {"Problem", "DocumentMetadata"}
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)


def test_every_reference_leads_somewhere():
    text = openapi.text()
    for kind, name in set(re.findall(r'"#/components/(\w+)/([^"]+)"', text)):
        assert name in openapi.document()["components"][kind]


def test_contracts_of_one_name_stay_apart():
    names: dict[str, set[type]] = {}
    for action in all_actions():
        for model in (action.input, action.output):
            names.setdefault(model.__name__, set()).add(model)
    for name, models in names.items():
        assert (name in SCHEMAS) == (len(models) == 1), name


def test_the_docs_page_takes_everything_from_this_server(db):
    http = Http()
    page = http.get("/v1/docs/")
    assert page.status_code == 200
    assets = re.findall(r'(?:src|href)="([^"]+)"', page.content.decode())
    assert len(assets) == 4
    for asset in assets:
        assert asset.startswith("/static/drf_spectacular_sidecar/")
        served = http.get(asset)
        assert served.status_code == 200
        served.close()
    assert "/v1/schema/" in page.content.decode()
    assert "//" not in re.sub(r"^\s*//.*$", "", page.content.decode(), flags=re.MULTILINE)


def _name(ref: dict) -> str:
    return str(ref["$ref"]).removeprefix("#/components/schemas/")


def _is_open(schema: dict) -> bool:
    return schema.get("additionalProperties") is not False
