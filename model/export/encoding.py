"""Encoding of values in a JSON file, as ITF writes them; the declared type says how to read a value back.

| type of the language | ITF |
|---|---|
| bool | `true`, `false` |
| integer | `{"#bigint": "3"}` (a JSON integer is read too) |
| enumeration | `{"tag": "COMMITTED", "value": {"#tup": []}}`, a variant as Quint shows it |
| index | `"Process(0)"` |
| optional | `{"tag": "None", "value": {"#tup": []}}`, `{"tag": "Some", "value": ..}` |
| record | an object with its fields |
| record of a union | `{"tag": "Ack", "value": {..}}` |
| set | `{"#set": [..]}` in domain order |
| map | `{"#map": [[key, value], ..]}` in the order of keys |
| sequence | a JSON array |

This file knows types and JSON, not traces.
"""

from __future__ import annotations

import re
from typing import Any

from antiphon.spec.lang import types
from antiphon.spec.lang.maps import Map, entries

UNIT = {"#tup": list[Any]()}


class DecodingError(Exception):
    """Error: JSON data is no value of the expected type. `path` leads to the wrong part, outermost first."""

    def __init__(self, reason: str, path: tuple[str, ...] = ()) -> None:
        self.reason, self.path = reason, path
        super().__init__(f"{''.join(path)}: {reason}" if path else reason)

    def under(self, part: str) -> DecodingError:
        """Return the same error, seen from one level further out: with `part` in front of its path."""
        return DecodingError(self.reason, (part, *self.path))


def encode(value: Any, domain: types.Domain) -> Any:
    """Return the JSON data of a value of the domain."""
    parts = domain.parts
    match domain.type:
        case types.Bool():
            return value
        case types.Int():
            return {"#bigint": str(value)}
        case types.Enumeration():
            return {"tag": value if isinstance(value, str) else value.name, "value": UNIT}
        case types.IndexType():
            return repr(value)
        case types.Optional():
            return (
                {"tag": "None", "value": UNIT}
                if value is None
                else {"tag": "Some", "value": encode(value, parts[0])}
            )
        case types.Record(fields=fields):
            return {
                name: encode(getattr(value, name), part)
                for (name, _), part in zip(fields, parts, strict=True)
            }
        case types.Union(records=records):
            for record, part in zip(records, parts, strict=True):
                if part.contains(value):
                    return {"tag": record.name, "value": encode(value, part)}
        case types.SetOf():
            return {"#set": [encode(item, parts[0]) for item in sorted(value, key=parts[0].rank)]}
        case types.MapOf():
            return {
                "#map": [
                    [encode(key, parts[0]), encode(item, parts[1])]
                    for key, item in zip(parts[0], entries(value), strict=True)
                ]
            }
        case types.SequenceOf():
            return [encode(item, parts[0]) for item in value]
    raise TypeError(f"{value!r} is no value of {domain.type!r}")


def decode(data: Any, domain: types.Domain) -> Any:
    """Return the value of the domain that the JSON data encodes.

    Raises:
        DecodingError: the data stands for no value of this domain; the error says where and why.
    """
    value = _decode(data, domain)
    if not domain.contains(value):
        raise DecodingError(f"{_shown(data)} leaves the domain of {_words(domain.type)}")
    return value


def _decode(data: Any, domain: types.Domain) -> Any:
    parts = domain.parts
    match domain.type:
        case types.Bool():
            return _expect(data, bool, domain)
        case types.Int():
            return _integer(data, domain)
        case types.Enumeration(members=members, python=python):
            tag, _ = _variant(data, members, domain)
            return tag if python is None else python[tag]
        case types.IndexType(name=name, python=python):
            match_ = re.fullmatch(rf"{re.escape(name)}\((0|[1-9][0-9]{{0,8}})\)", _expect(data, str, domain))
            if match_ is None:
                raise DecodingError(f'{_shown(data)} where "{name}(0)" or another number must stand')
            return python(int(match_.group(1)))
        case types.Optional():
            tag, inner = _variant(data, ("None", "Some"), domain)
            return None if tag == "None" else _within(".value", inner, parts[0])
        case types.Record():
            return _record(data, domain)
        case types.Union(records=records):
            tag, inner = _variant(data, tuple(record.name for record in records), domain)
            position = next(position for position, record in enumerate(records) if record.name == tag)
            return _within(".value", inner, parts[position])
        case types.SetOf():
            items = _tagged(data, "#set", domain)
            found = frozenset(_within(f"[{number}]", item, parts[0]) for number, item in enumerate(items))
            if len(found) != len(items):
                raise DecodingError("a set that holds an element twice")
            return found
        case types.MapOf():
            return _map(data, domain)
        case types.SequenceOf():
            items = _expect(data, list, domain)
            return tuple(_within(f"[{number}]", item, parts[0]) for number, item in enumerate(items))
    raise TypeError(f"unknown type {domain.type!r}")


def _integer(data: Any, domain: types.Domain) -> int:
    if type(data) is int:
        return data
    text = data.get("#bigint") if isinstance(data, dict) and set(data) == {"#bigint"} else None
    if not isinstance(text, str) or not re.fullmatch(r"-?[0-9]{1,40}", text):
        raise DecodingError(f'{_shown(data)} where {_words(domain.type)} must stand, as {{"#bigint": "1"}}')
    return int(text)


def _record(data: Any, domain: types.Domain) -> Any:
    assert isinstance(domain.type, types.Record)
    names = [name for name, _ in domain.type.fields]
    fields = _expect(data, dict, domain)
    if set(fields) != set(names):
        raise DecodingError(
            f"{_words(domain.type)} has the fields {', '.join(names) or 'none'}, not "
            f"{', '.join(map(str, fields)) or 'none'}"
        )
    values = [_within(f".{name}", fields[name], part) for name, part in zip(names, domain.parts, strict=True)]
    return domain.type.python(*values)


def _map(data: Any, domain: types.Domain) -> Map[Any, Any]:
    keys, items = domain.parts
    found: dict[Any, Any] = {}
    for number, pair in enumerate(_tagged(data, "#map", domain)):
        if not isinstance(pair, list) or len(pair) != 2:
            raise DecodingError(f"[{number}]: {_shown(pair)} where a pair of key and value must stand")
        key = _within(f"[{number}][0]", pair[0], keys)
        if key in found:
            raise DecodingError(f"a map that holds the key {key} twice")
        found[key] = _within(f"[{number}][1]", pair[1], items)
    missing = [repr(key) for key in keys if key not in found]
    if missing:
        raise DecodingError(f"a total map without the keys {', '.join(missing[:4])}")
    return Map.made(domain.keys, tuple(found[key] for key in keys))


def _within(part: str, data: Any, domain: types.Domain) -> Any:
    try:
        return decode(data, domain)
    except DecodingError as error:
        raise error.under(part) from None


def _variant(data: Any, tags: tuple[str, ...], domain: types.Domain) -> tuple[str, Any]:
    if not isinstance(data, dict) or set(data) != {"tag", "value"} or data["tag"] not in tags:
        raise DecodingError(
            f'{_shown(data)} where {_words(domain.type)} must stand, as {{"tag": "{tags[0]}", "value": ..}}; '
            f"tags: {', '.join(tags)}"
        )
    return data["tag"], data["value"]


def _tagged(data: Any, tag: str, domain: types.Domain) -> list[Any]:
    if not isinstance(data, dict) or set(data) != {tag} or not isinstance(data[tag], list):
        raise DecodingError(f'{_shown(data)} where {_words(domain.type)} must stand, as {{"{tag}": [..]}}')
    return list(data[tag])


def _expect(data: Any, kind: type, domain: types.Domain) -> Any:
    if type(data) is not kind:
        raise DecodingError(f"{_shown(data)} where {_words(domain.type)} must stand")
    return data


def _words(type: types.Type) -> str:
    match type:
        case types.Bool():
            return "true or false"
        case types.Int():
            return f"an integer from {type.low} to {type.high}"
        case types.Record(name=name) | types.Enumeration(name=name) | types.IndexType(name=name):
            return f"a value of {name}"
        case types.Union(records=records):
            return " or ".join(record.name for record in records)
    return {
        types.Optional: "an optional value",
        types.SetOf: "a set",
        types.MapOf: "a map",
        types.SequenceOf: "a sequence",
    }[type.__class__]


def _shown(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= 60 else text[:57] + "..."
