from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from pipelines.lab.bench import variants
from pipelines.lab.bench.bots import BOTS
from pipelines.lab.bench.variants import BASELINE, chosen, read_variants
from voice.errors import ConfigurationError


def table(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "variants.toml"
    path.write_text(text)
    return path


def test_the_table_that_comes_with_the_package_can_be_used() -> None:
    found = read_variants()
    names = [variant.name for variant in found]
    assert names[0] == "ours"
    assert BASELINE in names
    assert len(set(names)) == len(names)
    assert {variant.bot for variant in found if variant.bot} == set(BOTS)
    trials = {variant.name: variant for variant in found if variant.without}
    assert trials["ours-no-speculation"].without == "speculation"
    assert {variant.of for variant in trials.values()} == {"ours", "ours-no-early"}
    assert not trials.keys() & {"ours-adaptive", BASELINE}, "none of them lacks a part"


def test_the_first_row_is_ours_as_shipped() -> None:
    first = read_variants()[0]
    assert (first.name, first.settings) == ("ours", ())


def test_adaptive_stands_beside_peers_with_the_same_fast_model() -> None:
    found = read_variants()
    assert {variant.bot for variant in found if variant.fast} >= {"stock-pipecat", "tuned-pipecat"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[a]\nabout = "x"\n', r"\[a\] needs about and set"),
        ('[a]\nabout = "x"\nset = []\nbot = "stock-pipecat"\n', r"\[a\] needs about and set"),
        ('[a]\nabout = "x"\nbot = "stock-pipecat"\nwithout = "y"\n', r"\[a\] needs about and set"),
        ('[a]\nabout = "x"\nset = []\nwithout = "y"\n', r"\[a\] needs about and set"),
        ('[a]\nabout = "x"\nset = []\nwithout = "y"\nof = "b"\n', r'\[a\]: there is no variant "b"'),
        ('[a]\nabout = "x"\nbot = "stock-pipecat"\nllm = "slow"\n', r"\[a\] needs about and set"),
        ('[a]\nabout = "x"\nbot = "siri"\n', "one of stock-pipecat"),
        ('[a]\nabout = "x"\nset = ["turns.clairvoyance=true"]\n', "turns.clairvoyance is not a setting"),
    ],
)
def test_a_wrong_entry_is_refused_in_a_sentence(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        read_variants(table(tmp_path, text))


def test_only_the_named_agents_take_part_in_the_tables_order(tmp_path: Path) -> None:
    found = read_variants(table(tmp_path, "".join(f'[{name}]\nabout = ""\nset = []\n' for name in "abc")))
    assert [one.name for one in chosen(found, ["c", "a"])] == ["a", "c"]
    assert chosen(found, []) == found
    with pytest.raises(ConfigurationError, match='there is no variant "d"; the variants are a, b, c'):
        chosen(found, ["d"])


def test_a_peer_whose_package_is_missing_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_version(_package: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(variants, "version", no_version)
    missing = {variant.name: variant.missing for variant in read_variants()}
    assert missing["ours"] is None
    assert missing["livekit-agents"] == "livekit-agents is not installed; pip install '.[peers]'"
