"""Writes the folder of a scripted Whisper model: `python -m pipelines.lab.scripted OUT --fixtures FIXTURE`."""

import argparse
from pathlib import Path

from pipelines.lab.scripted.model import build_for_fixtures
from pipelines.lab.scripted.model_folder import SIZES, build


def main() -> None:
    """Build the model described by the command line and print its folder."""
    parser = argparse.ArgumentParser(prog="python -m pipelines.lab.scripted", description=__doc__)
    parser.add_argument("out", type=Path, help="folder to write")
    script = parser.add_mutually_exclusive_group(required=True)
    script.add_argument("--text", help="the text that it hears in any audio")
    script.add_argument("--fixtures", nargs="+", help="the recordings whose words it hears")
    parser.add_argument("--size", choices=SIZES, default="tiny", help="shape of the model (default: %(default)s)")
    parser.add_argument(
        "--misheard",
        type=float,
        default=0.2,
        help="share of last words that it mishears, 0 to 1 (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the mishearings (default: %(default)s)")
    parser.add_argument("--unsure", action="store_true", help="with --text: behave as Whisper does on silence")
    args = parser.parse_args()
    if args.text is None:
        build_for_fixtures(args.out, args.fixtures, size=args.size, misheard=args.misheard, seed=args.seed)
    else:
        build(args.out, text=args.text, size=args.size, unsure=args.unsure)
    print(args.out)


if __name__ == "__main__":
    main()
