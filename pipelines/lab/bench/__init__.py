"""`latency bench`: compares our agent with others, interleaved in one run and judged from the audio alone.

The other bots are here too, each in a plain file in the style of its framework's documentation.
"""
