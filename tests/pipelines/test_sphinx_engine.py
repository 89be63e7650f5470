"""What the embedded recogniser is told to expect."""

from pipelines.engines.sphinx import _domain_sentences, _edition
from voice.asr.sphinx.language_model import pronounceable
from voice.responder.sentences import domain_sentences


def test_it_expects_what_is_said_over_answers_and_the_names_of_a_call() -> None:
    sentences = _domain_sentences(["timer box"])
    assert sentences[: len(domain_sentences())] == domain_sentences()
    for said in ("hold on", "uh-huh", "of course", "go on", "keep going please", "what is my timer box"):
        assert sentences.count(said) >= 20
    assert pronounceable(sentences)[1] <= pronounceable(domain_sentences())[1]


def test_other_names_or_phrases_need_another_language_model() -> None:
    assert _edition("a", ["b"]) != _edition("a", []) != _edition("b", [])
    assert "hold on" in _edition("a", [])
