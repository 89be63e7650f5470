"""`python -m latency`: the `latency` command."""

import sys

from latency.cli import main

if __name__ == "__main__":
    sys.exit(main())
