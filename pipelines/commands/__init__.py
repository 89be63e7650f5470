"""The commands of `voice`: their options, and what carries them out."""
