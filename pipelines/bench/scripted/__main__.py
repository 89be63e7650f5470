"""Writes the folder of a scripted Whisper model: `python -m pipelines.bench.scripted OUT --fixtures FIXTURE`."""

import argparse
from pathlib import Path

from pipelines.bench.scripted.model import build_for_fixtures
from pipelines.bench.scripted.model_folder import SIZES, build


def main() -> None:
    """Build what the command line asks for and print the folder."""
    parser = argparse.ArgumentParser(prog="python -m pipelines.bench.scripted", description=__doc__)
    parser.add_argument("out", type=Path, help="folder to write")
    script = parser.add_mutually_exclusive_group(required=True)
    script.add_argument("--text", help="what it hears, whatever it is given")
    script.add_argument("--fixtures", nargs="+", help="recordings whose words it hears")
    parser.add_argument("--size", choices=SIZES, default="tiny", help="shape of the model (default: %(default)s)")
    parser.add_argument("--misheard", type=float, default=0.2, help="share of last words (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of what is misheard (default: %(default)s)")
    parser.add_argument("--unsure", action="store_true", help="with --text: do as Whisper does on silence")
    args = parser.parse_args()
    if args.text is None:
        build_for_fixtures(args.out, args.fixtures, size=args.size, misheard=args.misheard, seed=args.seed)
    else:
        build(args.out, text=args.text, size=args.size, unsure=args.unsure)
    print(args.out)


if __name__ == "__main__":
    main()
