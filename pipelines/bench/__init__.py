"""`latency bench`: our agent beside others, interleaved in one run, judged from the audio alone.

The bots that it is compared with are here too, each a plain file as its framework's documentation would have it.
"""
