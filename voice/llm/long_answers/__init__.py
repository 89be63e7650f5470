"""Long answers in parts: after one, the caller is asked whether to go on; the rest is kept until they say."""
