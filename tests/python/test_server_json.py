"""server.json, which directories of MCP servers read.

Its format is that of the MCP registry, schema 2025-12-11
(https://github.com/modelcontextprotocol/registry/tree/main/docs/reference/server-json).
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rexmit import cli

ROOT = Path(__file__).resolve().parents[2]
SERVER: dict[str, Any] = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
PACKAGE = SERVER["packages"][0]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]

ARGUMENT = {
    "type": "object",
    "required": ["type"],
    "additionalProperties": False,
    "properties": {
        "type": {"enum": ["named", "positional"]},
        "name": {"type": "string"},
        "value": {"type": "string"},
        "valueHint": {"type": "string"},
        "default": {"type": "string"},
        "description": {"type": "string"},
        "format": {"enum": ["string", "number", "boolean", "filepath"]},
        "isRequired": {"type": "boolean"},
        "isRepeated": {"type": "boolean"},
        "isSecret": {"type": "boolean"},
        "placeholder": {"type": "string"},
        "choices": {"type": "array", "items": {"type": "string"}},
    },
    "oneOf": [
        {"properties": {"type": {"const": "named"}}, "required": ["name"]},
        {
            "properties": {"type": {"const": "positional"}},
            "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}],
        },
    ],
}
#: What the registry asks of a server that is a package and speaks over standard input and output.
SCHEMA = {
    "type": "object",
    "required": ["$schema", "name", "description", "version", "repository", "packages"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "maxLength": 200, "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
        "websiteUrl": {"type": "string", "pattern": "^https://"},
        "repository": {
            "type": "object",
            "required": ["url", "source"],
            "properties": {"url": {"type": "string"}, "source": {"const": "github"}},
        },
        "packages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["registryType", "identifier", "version", "transport"],
                "additionalProperties": False,
                "properties": {
                    "registryType": {"enum": ["npm", "pypi", "oci", "nuget", "mcpb"]},
                    "registryBaseUrl": {"type": "string"},
                    "identifier": {"type": "string"},
                    "version": {"type": "string", "not": {"const": "latest"}},
                    "runtimeHint": {"type": "string"},
                    "runtimeArguments": {"type": "array", "items": ARGUMENT},
                    "packageArguments": {"type": "array", "items": ARGUMENT},
                    "transport": {"type": "object", "properties": {"type": {"const": "stdio"}}},
                },
            },
        },
    },
}


def test_it_is_what_the_registry_takes() -> None:
    jsonschema.validate(SERVER, SCHEMA)


@pytest.mark.parametrize(
    "wrong", [{"description": "x" * 101}, {"name": "rexmit"}, {"version": "latest"}, {"packages": []}]
)
def test_what_the_registry_refuses_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(SERVER | wrong, SCHEMA)


def test_it_agrees_with_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert SERVER["version"] == PACKAGE["version"] == VERSION
    assert PACKAGE["identifier"] == project["name"]
    (given,) = PACKAGE["runtimeArguments"]
    assert (given["name"], given["value"]) == ("--from", f"rexmit[mcp]=={VERSION}")
    assert "mcp" in project["optional-dependencies"]
    assert SERVER["repository"]["url"] == project["urls"]["Source"]


def test_the_readme_of_the_package_names_the_server() -> None:
    # The registry looks for this on the package's page.
    assert f"mcp-name: {SERVER['name']}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_its_arguments_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["mcp", "--help"]) == 0
    said = capsys.readouterr().out
    arguments = PACKAGE["packageArguments"]
    assert [one["value"] for one in arguments if "value" in one] == ["mcp"]
    for one in arguments:
        if one["type"] == "named":
            assert re.search(rf"{one['name']} [A-Z]+", said), one["name"]
