import pytest

from pipelines.lab.simulator.profiles import PRESETS, load_profiles
from voice.errors import ConfigurationError


def test_the_presets_differ() -> None:
    assert load_profiles("optimistic")["sonnet"].p95 < load_profiles("field")["sonnet"].p95
    assert load_profiles("optimistic")["haiku"] == load_profiles("field")["haiku"]


def test_every_figure_names_its_source() -> None:
    for preset in PRESETS:
        for profile in load_profiles(preset).values():
            assert profile.source
            assert profile.rate_source
            assert profile.stands_for


def test_an_unknown_preset_is_refused_with_the_names() -> None:
    with pytest.raises(ConfigurationError, match="field, optimistic"):
        load_profiles("rosy")
