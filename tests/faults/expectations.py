"""What has to become of each broken turn: the table of the matrix."""

import re
from collections import defaultdict

from tests.faults.matrix import Failure, Moment, Part

EXPECTED: dict[tuple[Part, Failure, Moment], str] = defaultdict(lambda: "answered rescued apologised repeated closed")
NAMED: dict[Part, re.Pattern[str]] = defaultdict(lambda: re.compile("."))
