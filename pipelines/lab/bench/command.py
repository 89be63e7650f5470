"""`latency bench`: parses and checks the arguments, makes the calls and prints the tables."""

import argparse
import asyncio
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from latency.command_line import Parser, count, printing
from latency.page.file import check_page, write_page
from latency.record.run import RunError
from latency.render.numbers import plural
from pipelines.lab.command_line import recordings, results_folder, say
from pipelines.process import run
from voice.errors import ConfigurationError

if TYPE_CHECKING:
    from latency.benchmark.benchmark import Benchmark, Callers
    from pipelines.lab.bench.plan import ModelSpeed
    from pipelines.lab.bench.variants import Variant
    from voice.client.fixtures.fixture import Fixture

SPEEDS = "450:65,100:1000"
WHISPER, SCRIPTED = "tiny.en", "scripted"
VOICE = "en_US-joe-medium"
_SPEED = re.compile(r"(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)")


def main(argv: Sequence[str]) -> int:
    """Call our agent and others with the same recordings and compare what is heard.

    Returns:
        0 success, 2 bad usage or configuration, 3 nothing measured, 4 an agent is missing or failed, 130 interrupted.

    Raises:
        SystemExit: For `--help` (0) and for invalid arguments (2).
    """
    args = _parser().parse_args(argv)
    return run(lambda: _run(args, argv))


def _run(args: argparse.Namespace, argv: Sequence[str]) -> int:
    check_page(args.html)
    return _show(Path(args.read) if args.read else _measure(args, argv), as_json=args.json, html=args.html)


def _parser() -> Parser:
    parser = Parser(
        prog="latency bench",
        description="Call our agent and other agents in turn, with the same recordings, recogniser, (simulated) "
        "language model and voice, and compare what is heard.",
        epilog="exit status: 0 fine, 2 bad usage or configuration, 3 nothing was measured, 4 an agent is missing or "
        "failed, 130 interrupted",
    )
    parser.add_argument(
        "--fixtures",
        nargs="+",
        metavar="FIXTURE",
        default=[],
        help="recordings or folders, as for voice replay (default: people's recordings, samples/people)",
    )
    parser.add_argument(
        "--fitted",
        action="store_true",
        help="also speak recordings by speakers that endpointing was fitted to, if there are others",
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--pauses",
        type=count,
        metavar="N",
        help="replace each recording with N copies, each with a pause inserted",
    )
    instead.add_argument(
        "--barge-in",
        type=count,
        metavar="N",
        help="interrupt answers with each recording N times, and time how fast they stop",
    )
    parser.add_argument(
        "--callers",
        type=count,
        default=1,
        metavar="N",
        help="let N callers call each agent at the same time, each with all recordings (default: 1)",
    )
    parser.add_argument(
        "--rounds", type=count, default=1, metavar="N", help="call each agent with all recordings N times (default: 1)"
    )
    parser.add_argument(
        "--llm",
        default=SPEEDS,
        metavar="MS:TOKENS,…",
        help=f"language model speeds: milliseconds to the first token, and tokens per second (default: {SPEEDS})",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="VARIANT",
        default=[],
        help="call only these agents, such as ours and stock-pipecat",
    )
    parser.add_argument(
        "--whisper",
        metavar="NAME|DIR",
        default=WHISPER,
        help="the Whisper model of all agents: a pulled model, a folder, or scripted, a model of tiny.en's size that "
        "knows the recordings' words (default: %(default)s)",
    )
    parser.add_argument(
        "--voice",
        metavar="NAME|FILE",
        default=VOICE,
        help="the Piper voice of all agents: a pulled voice, embedded, or a voice's .onnx file (default: %(default)s)",
    )
    parser.add_argument(
        "--out", metavar="DIR", help="folder to write recordings and figures to (default: a new one in runs/)"
    )
    parser.add_argument("--read", metavar="DIR", help="print the tables of an earlier benchmark")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page of the tables and a plot")
    return parser


def _measure(args: argparse.Namespace, argv: Sequence[str]) -> Path:
    # Copied first: what prepares our own process must not tune a peer.
    environment = dict(os.environ)
    from pipelines.process import loading_code, prepare_process

    prepare_process(verbose=args.verbose)
    with loading_code():
        from pipelines.lab.bench.plan import BenchmarkPlan
        from pipelines.lab.bench.rounds import run_rounds
    speeds = parse_speeds(args.llm)
    variants, skipped = _variants(args.only)
    found = recordings(args.fixtures)
    folder = results_folder(args.out, "bench")
    fixtures, callers = _fixtures(args, found, folder)
    with tempfile.TemporaryDirectory() as scratch:
        plan = BenchmarkPlan(
            folder=folder,
            variants=variants,
            skipped=skipped,
            fixtures=fixtures,
            callers=callers,
            speeds=speeds,
            rounds=args.rounds,
            whisper=_whisper(args.whisper, fixtures, Path(scratch)),
            voice=_voice(args.voice),
            environment=environment,
            command=["latency", "bench", *argv],
        )
        try:
            asyncio.run(run_rounds(plan, say))
        finally:
            say(_where(folder))
    return folder


def _where(folder: Path) -> str:
    """The folder of the results, complete or up to an interruption, and the command that prints them."""
    if not any(turns.stat().st_size for turns in folder.glob("*/*/turns.jsonl")):
        return "no call was completed, so there is nothing to read"
    return f"benchmark folder: {folder}  (read it with: latency bench --read {shlex.quote(str(folder))})"


def _variants(only: Sequence[str]) -> "tuple[list[Variant], dict[str, str]]":
    """The agents that take part, and why each other requested agent does not."""
    from pipelines.lab.bench.variants import chosen, read_variants

    wanted = chosen(read_variants(), only)
    skipped = {variant.name: why for variant in wanted if (why := variant.missing)}
    for name, why in skipped.items():
        say(f"{name} is left out: {why}")
    if len(skipped) == len(wanted):
        raise ConfigurationError("no agent is left to call.")
    return [variant for variant in wanted if variant.name not in skipped], skipped


def _fixtures(
    args: argparse.Namespace, found: "Sequence[Fixture]", folder: Path
) -> "tuple[Sequence[Fixture], Callers]":
    """The fixtures and their callers; recordings that are made for the benchmark are written to the folder."""
    from latency.benchmark.tables import about_callers
    from pipelines.lab.bench.callers import callers, interrupting, spoken, unfitted
    from pipelines.lab.bench.pauses import with_pauses
    from pipelines.lab.fitted import fitted_speakers

    fixtures = found if args.fitted else unfitted(found, fitted_speakers())
    left_out = len(spoken(found)) - len(spoken(fixtures))
    if args.barge_in:
        fixtures = interrupting(fixtures, copies=args.barge_in)
    elif args.pauses:
        fixtures = recordings([str(with_pauses(fixtures, folder / "fixtures", copies=args.pauses))])
        made = plural(sum(len(fixture.turns) for fixture in fixtures), "recording")
        say(f"{made} with a pause inserted: {folder / 'fixtures'}")
    names = {fixture.name for fixture in found}
    found_callers = callers(fixtures, fitted=fitted_speakers(), conversations=names)
    who = replace(found_callers, left_out=left_out, at_once=args.callers)
    for line in about_callers(who):
        say(line)
    return fixtures, who


def _whisper(model: str, fixtures: "Sequence[Fixture]", scratch: Path) -> Path:
    """The recogniser's model folder.

    Raises:
        ConfigurationError: there is no Whisper model of that name.
        ComponentError: it is not here, or the folder is no Whisper model.
    """
    if model == SCRIPTED:
        from pipelines.lab.scripted.model import build_for_fixtures

        return build_for_fixtures(scratch / "whisper", sorted({fixture.source for fixture in fixtures}), size="tiny")
    from voice.asr.whisper.weights import resolve

    return resolve(model).path.resolve()


def _voice(voice: str) -> Path:
    """The .onnx file of the voice.

    Raises:
        ConfigurationError: there is no voice of that name.
        ComponentError: it is not here.
    """
    from pipelines.engines.piper import Piper

    return Piper(voice=voice).file().resolve()


def parse_speeds(text: str) -> "list[ModelSpeed]":
    """The language model's speeds in a text such as "450:65,100:1000".

    Raises:
        ConfigurationError: The text has another form, or repeats a speed.
    """
    from pipelines.lab.bench.plan import ModelSpeed

    found = [_SPEED.fullmatch(part.strip()) for part in text.split(",")]
    speeds = [ModelSpeed(float(match[1]), float(match[2])) for match in found if match]
    if (
        len(speeds) < len(found)
        or len(set(speeds)) < len(speeds)
        or not all(s.ttft_ms and s.tokens_per_s for s in speeds)
    ):
        raise ConfigurationError(
            f'--llm takes milliseconds to the first token and tokens per second, such as {SPEEDS}, not "{text}".'
        )
    return speeds


def _show(folder: Path, *, as_json: bool, html: Path | None) -> int:
    from latency.benchmark.benchmark import Benchmark, text
    from latency.benchmark.tables import write
    from latency.page.document import document
    from latency.page.results import of_benchmark

    found = Benchmark.load(folder)
    if not found.rows:
        raise RunError(f"{folder} holds no turns yet", exit_code=3)
    if html:
        write_page(html, document(of_benchmark(found)))
    with printing():
        if as_json:
            print(text(found))
        else:
            write(found, sys.stdout)
    if not any(row.answered for row in found.rows):
        raise RunError(_nothing_heard(found), exit_code=3)
    return 0


def _nothing_heard(found: "Benchmark") -> str:
    """Why there is nothing to compare, in a sentence."""
    if turns := sum(row.expected for row in found.rows):
        return f"no agent answered any of the {plural(turns, 'turn')}, so there is nothing to compare."
    return "no recording has a turn that wants an answer, so there is nothing to compare."
