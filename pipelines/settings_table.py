"""The tables of a pipeline file: each refuses unknown keys, and one of its keys may choose the kind of table."""

import os
import re
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetCoreSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from voice.redaction import hide

UNKNOWN_KEY, UNKNOWN_KIND = "unknown_key", "unknown_kind"
"""Types of the errors that are raised here; their context holds `key` and `known`."""
SENTENCE = "sentence"
"""Type of an error whose message is complete, except for the full stop."""

SHORTEST_KEY = 20
"""The most characters of a key that looks like the name of a variable."""


def _checked_variable(name: str) -> str:
    looks_like_a_key = (
        len(name) >= SHORTEST_KEY and re.search("[a-z]", name) and re.search("[0-9]", name) and name not in os.environ
    )
    if looks_like_a_key or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        hide(name)
        raise ValueError("must be the name of an environment variable, such as OPENAI_API_KEY, and not the key itself")
    return name


VariableName = Annotated[str, AfterValidator(_checked_variable)]
"""The name of an environment variable that holds a key; the key itself is refused, and not quoted."""


class Table(BaseModel):
    """A table of a pipeline file: unknown keys are refused, values are never coerced silently."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @classmethod
    def known(cls) -> str:
        """The keys of this table, as an error names them."""
        return ", ".join(cls.model_fields)

    @classmethod
    def takes(cls, key: str, value: Any) -> bool:
        """Whether `key` may stand in this table."""
        return key in cls.model_fields

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, values: Any) -> Any:
        if isinstance(values, dict) and (unknown := next((k for k, v in values.items() if not cls.takes(k, v)), None)):
            raise PydanticCustomError(UNKNOWN_KEY, "unknown key", {"key": unknown, "known": cls.known()})
        return values


@dataclass(frozen=True, slots=True)
class OneOf:
    """Marks a field that holds one of several tables: `Annotated[Base, OneOf("engine", (Sphinx, Whisper))]`.

    Args:
        key: the key of the table that chooses the kind; in each kind it is a `Literal` of one string.
        kinds: the tables.
        default: the kind of a table without that key; None refuses it.
    """

    key: str
    kinds: tuple[type[Table], ...]
    default: str | None = None

    @property
    def names(self) -> list[str]:
        """The values that `key` may have."""
        return [get_args(kind.model_fields[self.key].annotation)[0] for kind in self.kinds]

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        union: Any = Annotated[Union.__getitem__(self.kinds), Field(discriminator=self.key)]
        return core_schema.no_info_before_validator_function(self._check_kind, handler.generate_schema(union))

    def _check_kind(self, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        if self.default is not None:
            values = {self.key: self.default, **values}
        if values.get(self.key) not in self.names:
            context = {"key": self.key, "known": ", ".join(self.names)}
            raise PydanticCustomError(UNKNOWN_KIND, "unknown kind", context)
        return values
