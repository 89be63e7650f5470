"""Writes docs/reference/settings.md from the settings themselves: `python -m tests.make_settings_page > FILE`."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from pipelines.providers.provider import PriceTable
from pipelines.providers.responder import ResponderTable
from pipelines.providers.sim import SimulatorTable
from pipelines.registry import PROVIDERS, RECOGNISERS, SYNTHESISERS
from pipelines.settings import BargeIn, Call, Settings, Turns, Vad, Watchdog
from pipelines.settings_table import Table
from pipelines.tiers.table import Roles, Tiers

HEAD = """\
# Settings

A pipeline is a TOML file with one table for each stage. `--set KEY=VALUE` changes one key, `voice check FILE` checks a
file of your own, and an unknown key or a value out of range is refused. Times are in milliseconds. This page is
generated from the settings.
"""
CHOICES = ("engine", "provider")
"""Keys that choose the kind of a table; the heading shows them."""


def page() -> str:
    """The whole page, in Markdown."""
    tables: list[tuple[str, type[Table]]] = [
        ("(top level)", Settings),
        ("[vad]", Vad),
        ("[turns]", Turns),
        ("[barge_in]", BargeIn),
        ("[watchdog]", Watchdog),
        ("[call]", Call),
        *((f'[asr] with engine = "{_kind(table, "engine")}"', table) for table in RECOGNISERS),
        ('[llm] with provider = "responder"', ResponderTable),
        ("[llm] with language models", Tiers),
        ("[llm.roles]", Roles),
        ("[llm.simulator]", SimulatorTable),
        *((f'[llm.NAME] with provider = "{_kind(table, "provider")}"', table) for table in PROVIDERS),
        ("[llm.NAME.price]", PriceTable),
        *((f'[tts] with engine = "{_kind(table, "engine")}"', table) for table in SYNTHESISERS),
    ]
    return "\n".join([HEAD, *(line for heading, table in tables for line in _section(heading, table))])


def _kind(table: type[Table], key: str) -> str:
    return str(get_args(table.model_fields[key].annotation)[0])


def _section(heading: str, table: type[Table]) -> Iterator[str]:
    yield f"## `{heading}`\n"
    yield f"{inspect.getdoc(table)}\n"
    texts = _texts(table)
    rows = [
        f"| `{name}` | {_values(field)} | {_default(name, field)} | {texts.get(name, '')} |"
        for name, field in table.model_fields.items()
        if name not in CHOICES and not _is_table(field)
    ]
    if rows:
        yield "\n".join(["| key | values | default | meaning |", "|---|---|---|---|", *rows, ""])


def _texts(table: type[Table]) -> dict[str, str]:
    """The text under each field of a table and of its base classes."""
    texts: dict[str, str] = {}
    for part in reversed([one for one in table.__mro__ if issubclass(one, Table) and one is not Table]):
        body = ast.parse(textwrap.dedent(inspect.getsource(part))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
            if is_text and isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                texts[field.target.id] = " ".join(str(text.value.value).split())  # type: ignore[attr-defined]
    return texts


def _is_table(field: FieldInfo) -> bool:
    return _holds_table(field.annotation)


def _holds_table(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return True
    return any(_holds_table(part) for part in get_args(annotation))


def _values(field: FieldInfo) -> str:
    limits = [_limit(rule) for rule in _rules(field.annotation, field.metadata)]
    return " ".join([_type(field.annotation), *filter(None, limits)])


def _rules(annotation: Any, metadata: list[Any]) -> list[Any]:
    """Limits of a value; pydantic keeps those of an optional value inside its annotation."""
    found = [*metadata, *(item for part in get_args(annotation) for item in getattr(part, "__metadata__", ()))]
    return [inner for item in found for inner in (item.metadata if isinstance(item, FieldInfo) else [item])]


def _limit(rule: Any) -> str | None:
    match rule:
        case Ge(ge=low):
            return f"≥ {low}"
        case Gt(gt=low):
            return f"> {low}"
        case Le(le=high):
            return f"≤ {high}"
        case Lt(lt=high):
            return f"< {high}"
    return None


def _type(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return ", ".join(_type(part) for part in get_args(annotation) if part is not NoneType)
    if hasattr(annotation, "__metadata__"):
        return _type(annotation.__origin__)
    if annotation is Any:
        return "text"
    names = {str: "text", int: "whole number", float: "number", bool: "`true`, `false`"}
    return names.get(
        annotation,
        "list of texts" if get_origin(annotation) is list else "table" if get_origin(annotation) is dict else "",
    )


def _default(name: str, field: FieldInfo) -> str:
    if field.is_required():
        return "required" if name != "name" else "the file's name"
    value = field.get_default(call_default_factory=True)
    if value is None or value in ("", [], {}):
        return ""
    shown = str(value).lower() if isinstance(value, bool) else str(value)
    return "see `voice/language/english/phrases.py`" if len(shown) > 60 else f"`{shown}`"


if __name__ == "__main__":
    print(page(), end="")
