"""`python -m latency`: the same command by module name."""

import sys

from latency.cli import main

if __name__ == "__main__":
    sys.exit(main())
