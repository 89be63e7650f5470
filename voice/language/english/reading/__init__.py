"""The English spoken forms of numbers, times, amounts, addresses, abbreviations and symbols."""

from voice.language.english.reading import addresses, amounts, times, words

RULES = (
    *addresses.RULES, *times.RULES, *words.ABBREVIATED, *amounts.RULES, *addresses.CODES, *amounts.INSIDE,
    *words.SYMBOLS,
)  # fmt: skip
"""The rules in order of preference, for those that match at the same character."""
