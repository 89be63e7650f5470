"""`latency whatif`: parses and checks the arguments, holds the turns and prints the figures."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from latency.command_line import FINE, Parser, count, printing, seed
from latency.page.file import check_page, write_page
from latency.record.run import Run
from pipelines.lab.command_line import results_folder, say
from pipelines.process import run
from voice.errors import ConfigurationError

if TYPE_CHECKING:
    from pipelines.lab.whatif.caller_turns import CallerTurn
    from pipelines.lab.whatif.contestants import Cell
    from pipelines.lab.whatif.fast import FastPlan
    from pipelines.lab.whatif.finding import Finding
    from pipelines.lab.whatif.row import Row

TURNS = 2000
SAY_EVERY = 5.0
"""Seconds between two lines of progress where there is no terminal."""


def main(argv: Sequence[str]) -> int:
    """Hold the same turns with other, simulated language models and policies, and advise one.

    Returns:
        0 success, 2 bad usage or configuration, 3 a run without usable turns, 4 a component is missing or failed, 130
        interrupted.

    Raises:
        SystemExit: For `--help` (0) and for invalid arguments (2).
    """
    args = _parser().parse_args(argv)
    args.argv = list(argv)
    return run(lambda: _run(args))


def _run(args: argparse.Namespace) -> int:
    check_page(args.html)
    return _show(_find(args), args)


def _parser() -> Parser:
    parser = Parser(
        prog="latency whatif",
        description="Hold the same turns with other language models and policies, all simulated at published "
        "latencies, and compare time, money and quality. It ends with one sentence of advice.",
        epilog="exit status: 0 fine, 2 bad usage or configuration, 3 the run has no usable turns, 4 a component is "
        "missing or failed, 130 interrupted",
    )
    parser.add_argument(
        "fixtures",
        nargs="*",
        metavar="FIXTURE",
        help="recordings or folders, as for voice replay; with --fast only their words and lengths count",
    )
    parser.add_argument(
        "--fast", action="store_true", help="no audio: a virtual clock, and thousands of turns in seconds"
    )
    parser.add_argument(
        "--run", type=Path, metavar="RUN", help="take the turns from a recorded run: endpointing and text lengths"
    )
    parser.add_argument("--preset", default="field", metavar="PRESET", help="latencies: field (default) or optimistic")
    parser.add_argument(
        "--tiers", nargs="+", default=[], metavar="TIER", help="tiers, and pairs as LARGE+FAST (default: a choice)"
    )
    parser.add_argument(
        "--policies", nargs="+", default=[], metavar="POLICY", help="policies (default: those that suit the tiers)"
    )
    parser.add_argument(
        "--turns", type=count, default=TURNS, metavar="N", help=f"turns for each line with --fast (default: {TURNS})"
    )
    parser.add_argument(
        "--chain", type=count, default=10, metavar="N", help="turns of a call that must all be right (default: 10)"
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="seed of all latencies (default: 1)")
    parser.add_argument("--no-stalls", action="store_true", help="with --fast, let no request stall")
    parser.add_argument(
        "--no-correlation", action="store_true", help="with --fast, make the stalls of one provider independent"
    )
    parser.add_argument(
        "--rounds", type=count, default=1, metavar="N", help="without --fast, play all recordings N times (default: 1)"
    )
    parser.add_argument(
        "--out", metavar="DIR", help="without --fast, the folder of the recorded runs (default: a new one in runs/)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page of the tables and a plot")
    return parser


def _find(args: argparse.Namespace) -> "Finding":
    from pipelines.process import prepare_process

    prepare_process(verbose=args.verbose)
    if args.fixtures and args.run:
        raise ConfigurationError("--run already gives the turns; leave the recordings out.")
    if args.run and not args.fast:
        raise ConfigurationError("--run works without audio only; add --fast, or name recordings instead.")
    if args.fast:
        _refuse_options(args, "without --fast only", rounds=1, out=None)
    else:
        _refuse_options(args, "with --fast only", turns=TURNS, no_stalls=False, no_correlation=False)
    from latency.budget import Budget
    from pipelines.lab.whatif.advice import advice
    from pipelines.lab.whatif.contestants import DEFAULT, DEFAULT_AUDIO, cells, contestants, usual_policies
    from pipelines.lab.whatif.draws import Randomness
    from pipelines.lab.whatif.fast import FastPlan, fast_rows
    from pipelines.lab.whatif.finding import Finding, window
    from pipelines.lab.whatif.typical_turns import drawn

    known = contestants(args.preset)
    entries = args.tiers or (DEFAULT if args.fast else DEFAULT_AUDIO)
    chosen = cells(entries, args.policies or usual_policies(entries), known)
    correlated = not (args.no_correlation or args.no_stalls)
    chance = Randomness(seed=args.seed, stalls=not args.no_stalls, correlated=correlated)
    budget = Budget()
    plan = FastPlan(turns=(), chance=chance, budget=budget, chain=args.chain)
    if args.fast:
        turns, source = _turns(args)
        plan = replace(plan, turns=drawn(turns, args.turns, seed=args.seed))
        rows = fast_rows(chosen, plan, _progress(len(chosen)))
    else:
        rows, source = _play(chosen, plan, args)
    tiers = {tier.name: tier for cell in chosen for tier in cell.tiers.values()}
    return Finding(
        mode="fast" if args.fast else "audio",
        simulated=tuple(tier.label for tier in tiers.values()),
        preset=args.preset,
        seed=args.seed,
        stalls=chance.stalls,
        correlated=chance.correlated,
        turns_source=source,
        budget_ms=budget.llm * 1000,
        chain=args.chain,
        windows=tuple(window(tier, chance) for tier in tiers.values()),
        rows=tuple(rows),
        advice=advice(rows, chain=args.chain),
    )


def _refuse_options(args: argparse.Namespace, where: str, **usual: object) -> None:
    """Refuse options that have no meaning in this mode, unless they have their default values."""
    for name, value in usual.items():
        if getattr(args, name) != value:
            raise ConfigurationError(f"--{name.replace('_', '-')} can be used {where}.")


def _play(chosen: "Sequence[Cell]", fast: "FastPlan", args: argparse.Namespace) -> "tuple[list[Row], str]":
    """Play the recordings to every cell; the figures, and the source of the turns."""
    from pipelines.process import loading_code

    with loading_code():
        from pipelines.lab.whatif.audio import AudioPlan, audio_row, play
        from pipelines.replaying.replay import chosen_fixtures
    fixtures = chosen_fixtures(args.fixtures, everything=False)
    folder = results_folder(args.out, "whatif")
    plan = AudioPlan(
        folder=folder,
        fixtures=fixtures,
        rounds=args.rounds,
        preset=args.preset,
        seed=args.seed,
        command=["latency", "whatif", *args.argv],
    )
    asyncio.run(play(chosen, plan, say))
    say(f"runs: {folder}")
    rows = [audio_row(cell, plan, fast, turns=TURNS) for cell in chosen]
    names = ", ".join(fixture.name for fixture in fixtures)
    return rows, f"{names}, played {args.rounds} time{'s' if args.rounds > 1 else ''} to each line; runs in {folder}"


def _turns(args: argparse.Namespace) -> "tuple[Sequence[CallerTurn], str]":
    """The turns to draw from, and their source."""
    from latency.render.numbers import plural
    from pipelines.lab.whatif.caller_turns import recording
    from pipelines.lab.whatif.typical_turns import usual, with_words

    if args.run:
        found = recording(Run.load(args.run))
        left = f"; {plural(found.left_out, 'turn')} left out" if found.left_out else ""
        return found.turns, f"drawn from {plural(len(found.turns), 'turn')} of {args.run}{left}"
    known = usual()
    if not args.fixtures:
        return known.turns, f"drawn from {known.source}"
    from voice.client.fixtures.fixture import load_fixtures

    turns = with_words(known.turns, load_fixtures(args.fixtures), seed=args.seed)
    if not turns:
        raise ConfigurationError("no recording has a turn that wants an answer, so there is nothing to hold.")
    return turns, f"the words of {plural(len(turns), 'recorded turn')}, with the endpointing of {known.source}"


def _progress(rows: int) -> Callable[[int], None]:
    """Shows how many lines of the table are done: in place in a terminal, else every few seconds."""
    said_at = time.monotonic()

    def said(done: int) -> None:
        nonlocal said_at
        if sys.stderr.isatty():
            print(f"\r{done} of {rows} lines", end="\n" if done == rows else "", file=sys.stderr, flush=True)
        elif time.monotonic() - said_at >= SAY_EVERY:
            said_at = time.monotonic()
            print(f"{done} of {rows} lines", file=sys.stderr, flush=True)

    return said


def _show(finding: "Finding", args: argparse.Namespace) -> int:
    from latency.record.json_form import to_json
    from pipelines.lab.whatif.render import page, text

    if args.html:
        from latency.page.document import document
        from latency.page.results import made_by

        write_page(args.html, document(made_by(page(finding), ["latency", "whatif", *args.argv])))
    with printing():
        if args.json:
            print(json.dumps(to_json(finding), indent=2, ensure_ascii=False))
        else:
            sys.stdout.write(text(finding))
    return FINE
