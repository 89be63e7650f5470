"""Answers HEAD where GET is answered: load balancers and `curl -I` ask with it."""

from collections.abc import Iterable

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute


def take_head(routes: Iterable[BaseRoute]) -> None:
    """Let routes that take GET take HEAD as well; FastAPI, unlike Starlette, does not by itself."""
    for route in routes:
        if isinstance(route, APIRoute) and route.methods and "GET" in route.methods:
            route.methods.add("HEAD")
