"""`python -m pipelines.lab.whatif`: `latency whatif` in a checkout whose commands are not registered yet."""

import sys

from pipelines.lab.whatif.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
