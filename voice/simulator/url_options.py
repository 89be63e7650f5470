"""Options in a request's URL: in its query, or in its path for clients that only take a base URL."""

from collections.abc import MutableMapping
from typing import Any
from urllib.parse import parse_qsl

OPTIONS_PATH = "/with/{options}"
"""What stands before `/v1` then: `http://127.0.0.1:8900/with/model=sonnet&fault=refuse/v1`."""


def url_options(scope: MutableMapping[str, Any]) -> dict[str, str]:
    """The options of a request or WebSocket by name; the query's win over the path's."""
    in_path = parse_qsl(scope.get("path_params", {}).get("options", ""), keep_blank_values=True)
    in_query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return dict(in_path) | dict(in_query)
