"""What an English voice says for written numbers, times, amounts, addresses, abbreviations and symbols."""

from voice.language.english.reading import addresses, amounts, times, words

RULES = (
    *addresses.RULES, *times.RULES, *words.ABBREVIATED, *amounts.RULES, *addresses.CODES, *amounts.INSIDE,
    *words.SYMBOLS,
)  # fmt: skip
"""In order of preference, where several begin at the same character."""
