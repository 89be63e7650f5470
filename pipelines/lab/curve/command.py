"""`latency curve`: records the detectors' reports, or reads them from a file, and prints the rules' figures."""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from errno import EISDIR
from pathlib import Path
from typing import TYPE_CHECKING

from latency.command_line import FINE, INTERRUPTED, NO_DATA, Parser, complain, count, printing, seed
from latency.page.file import check_page, write_page
from pipelines.lab.command_line import recordings, refuse_filled, say
from pipelines.lab.curve.recorded import DetectorReports, Detectors, load, save
from pipelines.process import run
from voice.errors import ConfigurationError, FixtureError

if TYPE_CHECKING:
    from voice.turns.endpointing import Endpointing

RECORDED = ".jsonl"


def main(argv: Sequence[str]) -> int:
    """Weigh the delay at the end of a turn against the pauses that are cut off.

    Returns:
        0 success, 2 bad usage or recordings that cannot be used, 3 nothing to measure, 4 a detector failed, 130
        interrupted.

    Raises:
        SystemExit: For `--help` (0) and for invalid arguments (2).
    """
    args = _parser().parse_args(argv)
    args.argv = list(argv)
    status = run(lambda: _run(args))
    if status == INTERRUPTED:
        # Python would wait for the pool of detectors, whose processes may have ended while holding one of its locks.
        os._exit(INTERRUPTED)
    return status


def _run(args: argparse.Namespace) -> int:
    check_page(args.html)
    return _show(_recorded(args), args)


def _parser() -> Parser:
    parser = Parser(
        prog="latency curve",
        description="Play labelled recordings to the voice detector and to Smart Turn, faster than real time, and "
        "weigh the delay at the end of a turn against the pauses that are cut off: for our rule, for Smart Turn "
        "alone and for silence alone.",
        epilog="exit status: 0 fine, 2 bad usage or recordings that cannot be used, 3 nothing to measure, 4 a detector "
        "failed, 130 interrupted",
    )
    parser.add_argument(
        "recordings",
        nargs="*",
        metavar="RECORDING",
        help="recordings or folders, as for voice replay; or a file written by --save (default: people's "
        "recordings, samples/people)",
    )
    parser.add_argument(
        "--pauses", type=count, metavar="N", help="replace each recording with N copies, each with a pause inserted"
    )
    parser.add_argument("--speakers", action="store_true", help="list every speaker")
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="draws the order of the turns in each speaker's calls (1)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page of the tables and a plot")
    parser.add_argument(
        "--save",
        type=Path,
        metavar=f"FILE{RECORDED}",
        help="save the detectors' reports, which can be read instead of the recordings",
    )
    return parser


def _recorded(args: argparse.Namespace) -> DetectorReports:
    """The detectors' reports: read from a file, or made now."""
    from pipelines.process import loading_code, prepare_process

    prepare_process(verbose=args.verbose)
    with loading_code():
        from pipelines.lab.curve import recorder
    files = [Path(name) for name in args.recordings if name.endswith(RECORDED)]
    if not files:
        return _record(args)
    if len(args.recordings) > 1:
        raise ConfigurationError(f"{files[0]} is read alone; name either one such file or recordings.")
    for option in ("save", "pauses"):
        if getattr(args, option) is not None:
            raise ConfigurationError(f"--{option} needs recordings, not {files[0]}.")
    recorded, notices = load(files[0], recorder.current_detectors())
    for notice in notices:
        say(notice)
    return recorded


def _record(args: argparse.Namespace) -> DetectorReports:
    from pipelines.lab.bench.pauses import with_pauses
    from pipelines.lab.curve.recorder import record

    if args.save is not None and args.save.suffix != RECORDED:
        raise ConfigurationError(f"--save takes a file that ends in {RECORDED}, not {args.save}.")
    if args.save is not None:
        _check_writable(args.save)
    fixtures = recordings(args.recordings)
    with tempfile.TemporaryDirectory() as scratch:
        if args.pauses is not None:
            # Written beside the file, which names them.
            folder = args.save.with_suffix("") if args.save else Path(scratch) / "pauses"
            refuse_filled(folder, "--save")
            fixtures = recordings([str(with_pauses(fixtures, folder, copies=args.pauses))])
        recorded = record(fixtures, inserted=args.pauses is not None, progress=_progress)
    if args.save is not None:
        save(recorded, args.save)
        say(f"saved: {args.save}")
    return recorded


def _check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before the recordings are played.

    Raises:
        FixtureError: it cannot.
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise FixtureError(f"{path} cannot be written: {error.strerror}.") from error


def _show(recorded: DetectorReports, args: argparse.Namespace) -> int:
    """Print the curves of people and of synthesisers."""
    from pipelines.lab.curve import render
    from pipelines.lab.curve.curve import groups, is_heard, make_curve

    if not any(map(is_heard, recorded.clips)):
        complain(
            "latency", "the voice detector noticed no end of speech in any recording, so there is nothing to measure."
        )
        return NO_DATA
    rule = _rule(recorded.detectors)
    curves = [
        make_curve(group, clips, rule, seed=args.seed)
        for group, clips in groups(recorded.clips).items()
        if any(map(is_heard, clips))
    ]
    if args.html:
        from latency.page.document import document
        from latency.page.results import made_by

        write_page(args.html, document(made_by(render.page(curves), ["latency", "curve", *args.argv])))
    with printing():
        if args.json:
            print(render.json(curves, recorded.detectors, seed=args.seed))
        else:
            sys.stdout.write(render.text(curves, all_speakers=args.speakers))
    return FINE


def _rule(detectors: Detectors) -> "Endpointing":
    """Our rule as it is set by default."""
    from pipelines.settings import Turns
    from voice.turns.endpointing import Endpointing

    turns = Turns()
    return Endpointing(
        stop=detectors.stop,
        fallback=turns.fallback_ms / 1000,
        longest=turns.longest_ms / 1000,
        risk=turns.risk,
    )


def _progress(done: int, of: int) -> None:
    """Count the recordings on a terminal; elsewhere, report every tenth of them."""
    if sys.stderr.isatty():
        end = "\n" if done == of else ""
        print(f"\r{done} of {of} recordings heard", end=end, file=sys.stderr, flush=True)
    elif done and 10 * done // of > 10 * (done - 1) // of:
        say(f"{done} of {of} recordings heard")
