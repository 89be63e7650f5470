"""Generates sentences that the responder understands, from its templates, to train a recogniser's language model."""

import random
from collections import defaultdict
from functools import cache

from voice.responder.language.grammar import Template
from voice.responder.language.numbers import spell_number
from voice.responder.skills.skill import Skill
from voice.responder.understanding import grammar, last_grammar

SENTENCES_PER_SHARE = 50
"""Number of sentences for a skill whose share is 1."""
_SEED = 20
_IMPERATIVE = frozenset(
    (
        "set start tell count convert spell repeat remember cancel give add multiply calculate say "
        "remind wake put remove"
    ).split()
)


def domain_sentences() -> list[str]:
    """Several thousand sentences as a recogniser writes them: lower case, no punctuation, numbers in words.

    The list is always the same. Frequent requests occur more often, so that word counts give sensible probabilities.
    Every template and every number up to 100 occurs at least once.
    """
    return list(_sentences())


@cache
def _sentences() -> tuple[str, ...]:
    rng = random.Random(_SEED)
    by_skill: dict[int, list[tuple[Skill, Template]]] = defaultdict(list)
    for skill, template in [*grammar().entries, *last_grammar().entries]:
        by_skill[id(skill)].append((skill, template))
    sentences: list[str] = []
    for entries in by_skill.values():
        skill = entries[0][0]
        if skill.awaited is not None or not skill.share:
            continue
        count = max(round(SENTENCES_PER_SHARE * skill.share), len(entries))
        for index in range(count):
            # Each template once, then mostly the first ones, which are the most common phrasings.
            choice = index if index < len(entries) else min(int(rng.expovariate(3 / len(entries))), len(entries) - 1)
            filled = skill.fill(rng) if skill.fill else {}
            sentences.append(spoken(entries[choice][1].sample(rng, filled), rng))
    return tuple([*sentences, *_every_number(rng)])


def spoken(sentence: str, rng: random.Random) -> str:
    """The sentence, sometimes with a contraction or courtesy, as people speak."""
    if sentence.startswith(("what is ", "where is ", "how is ", "who is ", "when is ")) and rng.random() < 0.5:
        first, _, rest = sentence.split(" ", 2)
        sentence = f"{first}'s {rest}"
    draw = rng.random()
    if sentence.split(" ", 1)[0] in _IMPERATIVE:
        if draw < 0.1:
            return f"{rng.choice(['can you', 'could you', 'please', 'can you please', 'could you please'])} {sentence}"
        if draw < 0.14:
            return f"{sentence} please"
    elif sentence.startswith(("what", "how", "where")) and draw < 0.05:
        return f"{rng.choice(['hey', 'okay', 'so', 'and', 'hello'])} {sentence}"
    return sentence


_OPERATIONS = ("plus", "minus", "times", "divided by", "percent of")
_CONVERSIONS = ("miles to kilometers", "pounds to kilograms", "feet to meters", "inches to centimeters")
_SCALES = ("celsius in fahrenheit", "fahrenheit in celsius")


def _every_number(rng: random.Random) -> list[str]:
    """Each number up to 100: with another number in sums, and in conversions and timers."""
    sentences = []
    for number in range(1, 101):
        value, other, said = spell_number(number), spell_number(rng.randint(2, 100)), rng.choice(_OPERATIONS)
        sentences += [f"what is {value} {said} {other}", f"what is {other} {said} {value}"]
        if number > 1:
            sentences.append(f"set a timer for {value} {rng.choice(['seconds', 'minutes'])}")
            sentences.append(f"convert {value} {rng.choice(_CONVERSIONS)}")
            sentences.append(f"what is {value} degrees {rng.choice(_SCALES)}")
    return sentences
