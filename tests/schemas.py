"""JSON Schemas that the command prints, held against documents that tests make."""

import functools
from typing import Any

import jsonschema

from antiphon.conformance.cli.schema import schema_of


@functools.cache
def validator(name: str) -> jsonschema.Draft202012Validator:
    """The validator of a kind of document, made once."""
    return jsonschema.Draft202012Validator(schema_of(name))


def complaints(name: str, document: Any) -> list[str]:
    """The complaints of the schema `name` about a document; none if it is one."""
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(document)]
