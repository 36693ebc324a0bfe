"""The OpenAPI document (3.1) out of the table of routes and the structs they name. Pure."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import msgspec

from dreamd import __version__
from dreamd.http.problems import Problem
from dreamd.http.routes import Route

_TEMPLATE = "#/components/schemas/{name}"
Json = dict[str, Any]


def document(routes: Sequence[Route], *, token_needed: bool) -> Json:
    """`token_needed`: changes bear a token (over TCP)."""
    kinds: list[type] = [Problem, *(route.answer for route in routes), *(route.asked for route in routes)]
    references, schemas = msgspec.json.schema_components(
        list(dict.fromkeys(kinds)), schema_hook=_schema, ref_template=_TEMPLATE
    )
    named = dict(zip(dict.fromkeys(kinds), references, strict=True))
    paths: Json = {}
    for route in routes:
        operation = _operation(route, named, schemas)
        if route.changes and token_needed:
            operation["security"] = [{"token": []}]
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "dreamd", "version": __version__, "description": "Sleep for AI agents."},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _schema(kind: type) -> Json:
    if issubclass(kind, PurePath):
        return {"type": "string"}
    raise NotImplementedError


def _operation(route: Route, named: dict[type, Json], schemas: Json) -> Json:
    problem = {"content": {"application/problem+json": {"schema": named[Problem]}}}
    answer = {
        "description": route.about,
        "content": {"application/json": {"schema": named[route.answer]}},
    }
    operation: Json = {
        "operationId": route.name,
        "summary": route.about,
        "responses": {
            str(route.status): answer,
            "4XX": {"description": "It cannot be done as it stands", **problem},
            "5XX": {"description": "It went wrong here; try again", **problem},
        },
    }
    if route.method == "POST":
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": named[route.asked]}},
        }
    elif parameters := _parameters(route, schemas[route.asked.__name__]):
        operation["parameters"] = parameters
    return operation


def _parameters(route: Route, schema: Json) -> list[Json]:
    in_path = set(re.findall(r"{(\w+)}", route.path))
    return [
        {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in schema.get("required", ()),
            "schema": {key: value for key, value in of.items() if key != "description"},
        }
        for name, of in schema["properties"].items()
    ]
