"""Reads options from a request's URL: from its query, or from its path for clients that accept only a base URL."""

from collections.abc import MutableMapping
from typing import Any
from urllib.parse import parse_qsl

OPTIONS_PATH = "/with/{options}"
"""The path before `/v1` that carries options: `http://127.0.0.1:8900/with/model=sonnet&fault=refuse/v1`."""


def url_options(scope: MutableMapping[str, Any]) -> dict[str, str]:
    """The options of a request or WebSocket by name; the query takes precedence over the path."""
    in_path = parse_qsl(scope.get("path_params", {}).get("options", ""), keep_blank_values=True)
    in_query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return dict(in_path) | dict(in_query)
