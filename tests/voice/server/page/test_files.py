"""The page is whole, names no other host, and says whose work its bundle is."""

import json
import re
from importlib.resources import files

import pytest

from voice.server.page.routes import CALLS_PAGE, HEADERS, INDEX, page_files

BUNDLE = "pipecat.js"
OURS = sorted(name for name in page_files() if not name.startswith("pipecat"))


@pytest.mark.parametrize("name", OURS)
def test_every_file_that_is_named_is_there_and_no_other_host_is(name: str) -> None:
    text = page_files()[name].content.decode()
    named = re.findall(r'"/page/([\w.-]+)"', text) + re.findall(r'from "\./([\w.-]+)"', text)
    assert set(named) <= page_files().keys()
    assert [
        url for url in re.findall(r"(?:https?:)?//[\w-]+\.[\w./-]+", text) if "www.w3.org/2000/svg" not in url
    ] == []


def test_every_file_of_the_page_is_used() -> None:
    texts = "".join(page_files()[name].content.decode() for name in OURS)
    assert [name for name in page_files() if name not in (INDEX, CALLS_PAGE) and name not in texts] == []


@pytest.mark.parametrize(("page", "script"), [(INDEX, "page.js"), (CALLS_PAGE, "live.js")])
def test_every_element_that_the_script_uses_is_on_the_page(page: str, script: str) -> None:
    ids = set(re.findall(r'id="(\w+)"', page_files()[page].content.decode()))
    assert set(re.findall(r"\bpage\.(\w+)", page_files()[script].content.decode())) <= ids


@pytest.mark.parametrize("page", [INDEX, CALLS_PAGE])
def test_nothing_is_loaded_from_elsewhere_and_nothing_runs_inline(page: str) -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"unsafe|https?:|\*|blob:", policy)
    assert not re.search(r"<style|\son\w+=|style=|<script(?![^>]*\ssrc=)", page_files()[page].content.decode())


def test_the_bundle_comes_with_the_licence_of_each_package_in_it() -> None:
    wanted = json.loads((files("voice.server.page") / "bundle" / "package.json").read_text())["dependencies"]
    licences = page_files()["pipecat-licences.txt"].content.decode()
    assert all(f"{name} {version} (" in licences for name, version in wanted.items())
    assert len(page_files()[BUNDLE].content) < 300_000
