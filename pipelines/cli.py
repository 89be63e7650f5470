"""The `voice` command. It only parses; a command's implementation is imported when it is called."""

import sys
from collections.abc import Sequence

from latency.command_line import INTERRUPTED, USAGE, Parser, complain, printing, unusable
from pipelines.commands.calls import add_calls
from pipelines.commands.installation import add_installation
from pipelines.commands.servers import add_servers
from pipelines.process import prepare_process
from voice.errors import AlreadyReported, VoiceError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 fine, 1 a threshold failed, 2 bad usage or configuration, 3 no data, 4 a component is missing or failed,
        130 interrupted.

    Raises:
        SystemExit: For `--help` and `--version` (0) and for arguments that are refused (2).
    """
    try:
        with printing("voice"):
            args = parser().parse_args(argv)
            if args.command is None:
                parser().print_help(sys.stderr)
                return USAGE
            prepare_process(verbose=args.verbose)
            return int(args.run(args))
    except AlreadyReported as error:
        return error.exit_code
    except VoiceError as error:
        complain("voice", str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("voice", "interrupted")
        return INTERRUPTED
    except OSError as error:
        return unusable(error, "voice")
    return 0


def parser() -> Parser:
    """The command line."""
    top = Parser(
        prog="voice",
        description="A real-time voice agent whose latency is a contract.",
        epilog="exit status: 0 fine, 1 a check failed, 2 bad usage or configuration, 3 no data, 4 a component is "
        "missing or failed, 130 interrupted",
    )
    top.add_version()

    add_calls(top)
    add_servers(top)
    add_installation(top)
    return top


if __name__ == "__main__":
    sys.exit(main())
