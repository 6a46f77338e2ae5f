"""The data in a file of the explorer, as its page unpacks it."""

import json
import re
from typing import Any


def content(page: str) -> dict[str, Any]:
    """Return the data of a file, unpacked."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    strings, shapes = data["packed"]["strings"], data["packed"]["shapes"]

    def part(value: Any) -> Any:
        match value:
            case bool() | None:
                return value
            case int():
                return strings[value]
            case str():
                return int(value)
            case [-1, *rest]:
                return [part(item) for item in rest]
            case [shape, *rest]:
                return {key: part(item) for key, item in zip(shapes[shape], rest, strict=True)}

    for kind in ("views", "disabled", "places"):
        data[kind] = [part(item) for item in data.get(kind, [])]
    data["values"] = {key: part(item) for key, item in data["values"].items()}
    data["tree"] = {key: part(item) for key, item in data.get("tree", {}).items()}
    return data
