"""The commands of `voice`: their options, and the functions that run them."""
