from dataclasses import replace

import pytest

from latency.render.turn_table import llm_remark
from latency.verdict import Judged

IN_TIME = Judged(
    verdict="within",
    asked="large",
    tier="large",
    model="sim:sonnet",
    policy="adaptive",
    reason="large first",
    late_ms=-120.0,
    limit="llm",
    charged=None,
    phrases=(),
    gave_up=None,
)


@pytest.mark.parametrize(
    ("how", "remark"),
    [
        ({}, None),
        ({"verdict": None}, None),
        ({"verdict": None, "tier": None}, None),
        ({"asked": "fast", "tier": "fast", "reason": "large is too slow these days"},
         "fast: large is too slow these days"),
        ({"verdict": "rescued", "tier": "fast"}, "rescued by fast"),
        ({"verdict": "bridged", "phrases": ("One moment.",), "late_ms": 820.4},
         "bridged: One moment. (answer 820 ms late)"),
        ({"verdict": "bridged", "phrases": ("One moment.",), "late_ms": 820.4, "tier": "fast"},
         "bridged: One moment. (answer by fast 820 ms late)"),
        ({"verdict": "bridged", "phrases": ("One moment.",), "late_ms": None, "tier": None},
         "bridged: One moment. (no answer)"),
        ({"verdict": "missed", "late_ms": 320.0}, "missed by 320 ms"),
        ({"verdict": "missed", "late_ms": 0.4, "tier": "fast"}, "missed by under 1 ms (fast)"),
        ({"verdict": "missed", "late_ms": None, "tier": None}, "missed: no answer text"),
        ({"verdict": "missed", "late_ms": 320.0, "policy": None}, None),
    ],
)  # fmt: skip
def test_a_remark_tells_who_spoke_unless_it_was_the_usual_tier_in_time(how: dict[str, object], remark: str) -> None:
    assert llm_remark(replace(IN_TIME, **how), usual="large") == remark  # type: ignore[arg-type]


def test_a_turn_that_asked_no_model_has_no_remark() -> None:
    assert llm_remark(None, usual=None) is None
