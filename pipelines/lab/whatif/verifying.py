"""How often an answer that was drafted by one model and verified by another is right. Pure.

[A] The verifier finds a wrong draft, and mends it, as often as it would have been right itself; it objects to no right
one; the two err independently. No measurement of any of these is known to us. A draft that no verdict reached in time
is right as often as its model is.
"""

ASSUMED = (
    "Assumed [A], not measured: the large tier mends a wrong draft as often as it would be right itself, objects to no "
    "right one, and the two err independently; for the time and the price, it objects to none."
)


def verified_right(draft: float, verifier: float) -> float:
    """The share of right answers among verified ones.

    Args:
        draft: the share that the drafting model gets right alone, 0 to 1.
        verifier: the same of the verifying model.
    """
    return draft + (1 - draft) * verifier
