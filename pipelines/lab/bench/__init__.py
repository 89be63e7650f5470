"""`latency bench`: compares our agent with others, interleaved in one run and judged from the audio alone.

The other bots are here too, each in a plain file as its framework's documentation would write it.
"""
