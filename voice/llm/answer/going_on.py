"""What a tier is told that continues another one's answer."""

GO_ON = (
    "The connection broke after those words, which the user has heard. Go on from exactly there in the same voice. "
    "Do not repeat them, do not greet, do not apologise and do not mention the break."
)
