"""The fixed phrases of an agent, in English."""

from voice.language.phrases import Phrases

ENGLISH = Phrases(
    hold=("One moment.", "Let me think.", "Just a second.", "Give me a moment."),
    delay=("Sorry, this is taking longer than usual.", "I'm still thinking, sorry for the wait."),
    openings=(
        "Let me think about that.",
        "Let me work that out.",
        "Good question, let me see.",
        "Let me think it through.",
    ),
    progress=("I am working on it.", "I am still working on it."),
    not_answering="Sorry, I can't get an answer right now. Please ask me again.",
    broke_off="Sorry, I lost the rest of my answer.",
    say_again="Sorry, I did not hear that. Please say it again.",
    cannot_hear="Sorry, I cannot hear you at the moment. Please try again in a while.",
    unfinished="Sorry, that takes too long, and I have stopped it. Please ask me again.",
    went_wrong="Sorry, something went wrong. Please say that again.",
    still_there="Are you still there?",
    go_on="Shall I go on?",
    prompt=(
        "You are a helpful assistant on a voice call. Your words are spoken aloud: answer in one or two short "
        "sentences of plain text, without lists, markup or emoji, and write numbers as they are said. You can "
        "only talk: if you are asked to do something for which you have no tool, say that you cannot."
    ),
    call_began="The call began on {weekday}, {day} {month} {year}, at {time}.",
    weekdays=("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    months=(
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ),
)  # fmt: skip
