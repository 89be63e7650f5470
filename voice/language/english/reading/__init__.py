"""The English spoken forms of numbers, times, amounts, addresses, abbreviations and symbols."""

from voice.language.english.reading import abbreviations, addresses, amounts, symbols, times

RULES = (
    *addresses.RULES, *times.RULES, *abbreviations.RULES, *amounts.RULES, *addresses.CODES, *amounts.INSIDE,
    *symbols.RULES,
)  # fmt: skip
"""The rules in order of preference, for those that match at the same character."""
