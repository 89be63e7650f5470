"""Answers greetings, thanks, goodbyes, and other words about the call itself: "stop", "can you hear me", "help"."""

from voice.responder.skills.skill import Skills, always

ABILITIES = "tell the time, do arithmetic, convert units, set timers, spell words and remember things"
FIRST_REFUSAL = f"I run without a language model, so I can't answer that. I can {ABILITIES}."
NEEDS_A_MODEL = "I can't answer that without a language model. Ask me for help to hear what I can do."
NOT_CAUGHT = "Sorry, I did not catch that."
GREETING = "Hello. How can I help you?"
SKILLS = Skills()

SKILLS.say(
    GREETING,
    "hello",
    "(hello|hi|hey) [there|again]",
    "(hello|hi|hey) (hello|turnaround)",
    "greetings",
    "hello (my friend|everybody|everyone|computer)",
    whole=False,
    may_end=always,
    share=2,
)
for _day in ("morning", "afternoon", "evening"):
    SKILLS.say(f"Good {_day}. How can I help you?", "hello", f"good {_day} [to you]", whole=False, may_end=always)
SKILLS.say(
    "You are welcome.",
    "thanks",
    "thank you [very much|so much|a lot]",
    "thanks [a lot|very much|so much]",
    "(many|okay|great) thanks",
    "that was (helpful|great|nice)",
    "(well done|good job|good work|nice work)",
    share=2,
)
SKILLS.say("Nice to meet you, too.", "nice to meet you", "[it is] (nice|good|pleased) to (meet|see|hear) you [too]")
SKILLS.say(
    "Yes, I can hear you.",
    "presence",
    "(can|do) you hear me",
    "are you (there|still there|listening|awake)",
    "is (anybody|anyone|somebody) there",
    "hello are you there",
    share=1.5,
)
SKILLS.say(
    f"I can {ABILITIES}; I also set reminders, keep lists and count.",
    "help",
    "[i need] [some] help",
    "what (can you|do you|you can|are you able to) do",
    "what (can|could|should|may) i (say|ask) [you]",
    "what do you (know|understand)",
    "how (can you help [me]|does this work)",
    share=2,
)
SKILLS.say(
    "Okay.",
    "stop",
    "stop [it|that|talking|please]",
    "never mind",
    "forget it",
    "cancel [it|that]",
    "be (quiet|silent)",
    "(shut|hush) up",
    "(that is enough|enough|silence|quiet|wait|pause|hold on)",
    "(wait|hold on) a (minute|moment|second)",
    "no stop",
    share=2,
)
SKILLS.say(
    "Okay.",
    "acknowledgement",
    "(okay|ok|yes|yeah|no|nope|nah|right|alright|all right|sure|exactly|i see)",
    "(great|cool|nice|good|fine|perfect|wonderful)",
    "(yes please|no thanks|no thank you)",
    "(that is|very) (good|nice|great|right|correct|fine|cool)",
    whole=False,
    may_end=always,
    share=1.5,
)
SKILLS.say(
    "Goodbye.",
    "goodbye",
    "(goodbye|bye) [bye|then|now|for now]",
    "see you [later|soon|tomorrow]",
    "(talk to you|see you) (later|soon)",
    "hang up",
    "(end|stop|finish) the (call|conversation)",
    "that is all",
    "have a (nice|good|great) day",
    "i have to go [now]",
    ends_call=True,
    share=2,
)
