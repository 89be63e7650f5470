import json
import re
from pathlib import Path

import pytest

from pipelines.lab.whatif.command import main


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    try:
        code = main(argv)
    except SystemExit as left:
        code = int(str(left.code))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_it_ends_in_advice_and_fits_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--fast", "--turns", "40", "--tiers", "opus+groq-fast", "--policies", "single", "race")
    assert code == 0
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "SIMULATED    not real: sim:opus, sim:groq-fast" in lines
    assert any(line.startswith("Advice       Take sim:opus") for line in lines)


def test_json_is_typed_and_names_what_is_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--fast", "--turns", "30", "--tiers", "opus", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["simulated"] == ["sim:opus"]
    [window] = found["windows"]
    assert window["zero"] == [26, 32]
    assert [row["policy"] for row in found["rows"]] == ["single", "hedged"]
    for row in found["rows"]:
        assert row["within"] + row["rescued"] + row["bridged"] + row["missed"] == row["turns"] == 30


def test_the_same_seed_gives_the_same_figures(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ("--fast", "--turns", "30", "--tiers", "sonnet+cerebras", "--policies", "fallback", "--json")
    assert run(capsys, *argv) == run(capsys, *argv)


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["--tiers", "opos"], 2, 'latency: there is no tier "opos"; did you mean "opus"?'),
        (["--policies", "rase"], 2, 'latency: there is no policy "rase"; did you mean "race"?'),
        (
            ["--tiers", "opus", "--policies", "race"],
            2,
            "latency: the policy race needs two tiers: write a pair such as sonnet+groq-fast, or leave it out.",
        ),
        (
            ["--tiers", "opus+haiku", "sonnet", "--policies", "race"],
            2,
            "latency: no policy of race fits sonnet; add single or hedged.",
        ),
        (["--preset", "rosy"], 2, "latency: There is no preset rosy; choose one of field, optimistic."),
        (["--run", "nowhere"], 2, "latency: nowhere does not exist"),
        (
            ["--run", ".", "samples/tour"],
            2,
            "latency: --run already gives the turns; leave the recordings out.",
        ),
        (["no-such-folder"], 2, "latency: no-such-folder: there is no such file or folder."),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    argv: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, out, err = run(capsys, "--fast", *argv)
    assert (found, out, err.strip()) == (code, "", said)


def test_recordings_give_their_words(capsys: pytest.CaptureFixture[str]) -> None:
    samples = Path(__file__).resolve().parents[4] / "samples"
    argv = ("--fast", "--turns", "20", "--tiers", "haiku", "--policies", "single", "--json")
    code, out, _ = run(capsys, str(samples / "tour"), *argv)
    assert code == 0
    assert json.loads(out)["turns_source"].startswith("the words of 11 recorded turns")


def test_tiers_of_the_catalogue_fit_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    pair = "claude-opus-4-6@fast+cerebras-gpt-oss-120b"
    code, out, _ = run(capsys, "--fast", "--turns", "20", "--tiers", pair, "--policies", "fallback")
    assert code == 0
    assert "sim:claude-opus-4-6@fast" in out.splitlines()
    assert max(map(len, out.splitlines())) <= 80


def test_the_page_has_the_tables_and_what_is_simulated(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    argv = ("--fast", "--turns", "30", "--tiers", "opus+groq-fast", "--html", str(path))
    code, out, err = run(capsys, *argv)
    assert code == 0
    assert f"page written to {path}" in err
    assert "Advice" in out
    content = re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert content
    found = json.loads(content[1])
    assert found["head"][0] == ["SIMULATED, not real: sim:opus, sim:groq-fast", "magenta"]
    policies, tiers = found["sections"]
    series = policies["plot"]["series"]
    assert series[-1]["name"] == "sim:opus + sim:groq-fast"
    assert series[0]["labels"][0] == "opus"
    assert "single" not in [label for one in series for label in one["labels"]]
    assert ": latency whatif --fast --turns 30" in found["head"][-1][0]
    for table in (*policies["tables"], *tiers["tables"]):
        assert all(len(row) == len(table["headings"]) for row in table["rows"])
    missing = tmp_path / "nowhere" / "page.html"
    assert run(capsys, *argv[:-1], str(missing)) == (
        2, "", f"latency: the page cannot be written to {missing}: No such file or directory\n",
    )  # fmt: skip
