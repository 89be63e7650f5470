"""A page as one HTML file: its data, styles, scripts and sounds are all in it, and it asks no host for anything.

Plots are Observable Plot's. Compared were, bundled with what the page uses and minified: Plot (0.25 MB, ISC), uPlot
(0.05 MB, MIT), Vega-Lite (0.8 MB, BSD-3-Clause) and Plotly's basic bundle (1.2 MB, MIT). Plot draws SVG, with names for
screen readers, and takes its colours from the page's style sheet, so that a plot is readable in print and in the dark.
uPlot draws on a canvas, which has none of that. Vega-Lite compiles its expressions with `Function`, which the page's
policy forbids, unless an interpreter is added. `bundle/bundle.sh` makes `static/plot.js` again.

Texts of a run are hostile: they come from callers and models. They are in the file as JSON without any "<", and the
script shows them as text only. The policy allows our scripts by their hashes and no request at all. Styles are not
hashed, because Plot adds its own.
"""

import base64
import hashlib
import io
import os
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import msgspec

from latency.audio.recording import RATE
from latency.judge.session import SessionOutcome
from latency.page.file import HEAD
from latency.page.record import Page, Recordings, stretches, turn_id
from latency.page.results import Results
from latency.report.report import Report

_OPUS = 0.93
"""libsndfile's level of compression: about 36 kbit/s for both sides."""


def document(page: Page | Results, sounds: Iterable[tuple[str, str]] = ()) -> Iterator[str]:
    """The page, in pieces."""
    kind = "report" if isinstance(page, Page) else "results"
    scripts = [f"/*\n{_file('plot-licences.txt')}*/\n{_file('plot.js')}", _file("parts.js"), _file(f"{kind}.js")]
    data = msgspec.json.encode(page).decode().replace("<", "\\u003c")
    values: dict[str, Iterable[str]] = {
        "policy": [" ".join(f"'sha256-{_hash(script)}'" for script in scripts)],
        "style": [_file("report.css")],
        "data": [data],
        "sounds": (f'<script type="text/plain" data-turn="{turn}">{sound}</script>\n' for turn, sound in sounds),
        "scripts": (f"<script>{script}</script>\n" for script in scripts),
    }
    yield HEAD
    # A placeholder in a value is none: the template is split before anything is filled in.
    for position, piece in enumerate(re.split(r"\{\{(\w+)\}\}", _file(f"{kind}.html"))):
        yield from values[piece] if position % 2 else [piece]


def sounds_of(report: Report, recordings: Recordings) -> Iterator[tuple[str, str]]:
    """The fragment of each recorded turn, and its audio: Opus in base64, left the user, right the bot."""
    import soundfile

    def of_session(session: SessionOutcome) -> list[tuple[str, str]]:
        stereo = recordings(session.session)
        if stereo is None:
            return []
        found = []
        for outcome, stretch in stretches(session, len(stereo) / RATE):
            if stretch:
                coded, sound = io.BytesIO(), stereo[round(stretch[0] * RATE) : round(stretch[1] * RATE)]
                soundfile.write(coded, sound, RATE, format="OGG", subtype="OPUS", compression_level=_OPUS)
                found.append((turn_id(report, outcome), base64.b64encode(coded.getvalue()).decode()))
        return found

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(of_session, report.sessions):
            yield from found


def _file(name: str) -> str:
    return (files("latency.page") / "static" / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
