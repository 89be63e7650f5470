"""Answers courtesies and questions about the responder itself."""

from voice.responder.skills.skill import Skill, always, says

ABILITIES = "tell the time, do arithmetic, convert units, set timers, spell words and remember things"
FIRST_REFUSAL = f"I run without a language model, so I can't answer that. I can {ABILITIES}."
NEEDS_A_MODEL = "I can't answer that without a language model. Ask me for help to hear what I can do."
NOT_CAUGHT = "Sorry, I did not catch that."
GREETING = "Hello. How can I help you?"

SKILLS = [
    Skill(
        "hello",
        [
            "(hello|hi|hey) [there|again]",
            "(hello|hi|hey) (hello|turnaround)",
            "greetings",
            "hello (my friend|everybody|everyone|computer)",
        ],
        says(GREETING),
        whole=False,
        may_end=always,
        share=2,
    ),
    Skill("hello", ["good morning [to you]"], says("Good morning. How can I help you?"), whole=False, may_end=always),
    Skill(
        "hello", ["good afternoon [to you]"], says("Good afternoon. How can I help you?"), whole=False, may_end=always
    ),
    Skill("hello", ["good evening [to you]"], says("Good evening. How can I help you?"), whole=False, may_end=always),
    Skill("good night", ["good night", "sleep well"], says("Good night. Sleep well.")),
    Skill(
        "how are you",
        [
            "how are you [doing] [today]",
            "how is it going",
            "how do you (do|feel) [today]",
            "how (have you been|are things)",
            "what is up",
            "are you (okay|well|all right)",
        ],
        says("I am running well, thank you. How can I help?"),
        share=2,
    ),
    Skill(
        "thanks",
        [
            "thank you [very much|so much|a lot]",
            "thanks [a lot|very much|so much]",
            "(many|okay|great) thanks",
            "that was (helpful|great|nice)",
            "(well done|good job|good work|nice work)",
        ],
        says("You are welcome."),
        share=2,
    ),
    Skill(
        "who are you",
        [
            "(who|what) are you",
            "introduce yourself",
            "tell me about yourself",
            "who am i (talking|speaking) to",
        ],
        says("I am Turnaround's embedded responder. I follow fixed rules and use no language model."),
        share=1.5,
    ),
    Skill(
        "name",
        [
            "what is your name",
            "do you have a name",
            "what (should|can|do) i call you",
            "what are you called",
            "what your name is",
        ],
        says("My name is Turnaround. I am its embedded responder."),
        share=1.5,
    ),
    Skill(
        "robot",
        [
            "are you a (robot|machine|computer|program)",
            "are you (a person|human|a human|real|alive)",
            "are you (artificial intelligence|a language model|intelligent)",
            "am i (talking|speaking) to a (person|human|robot|machine|computer)",
        ],
        says("I am a computer program that follows fixed rules. There is no language model in me."),
        share=1.5,
    ),
    Skill(
        "age",
        [
            "how old are you",
            "what is your age",
            "(when|what day) is your birthday",
            "when were you (born|made|created)",
            "do you have a birthday",
        ],
        says("I am a computer program and have no age: I begin anew with each call."),
    ),
    Skill(
        "language",
        [
            "do you speak (german|french|spanish|italian|chinese|japanese|russian|english|other languages)",
            "(what|which|how many) languages do you speak",
            "(speak|talk) (german|french|spanish|italian|chinese|japanese|russian|english) [to me|with me]",
            "can you speak (german|french|spanish|italian|chinese|japanese|russian|english|other languages)",
        ],
        says("I speak and understand English only."),
    ),
    Skill(
        "maker",
        ["who (made|built|created|programmed) you", "where (do you come|are you) from", "where do you live"],
        says("I am part of the open source project Turnaround, and I run on this machine."),
    ),
    Skill(
        "nice to meet you",
        ["[it is] (nice|good|pleased) to (meet|see|hear) you [too]"],
        says("Nice to meet you, too."),
    ),
    Skill(
        "presence",
        [
            "(can|do) you hear me",
            "are you (there|still there|listening|awake)",
            "is (anybody|anyone|somebody) there",
            "hello are you there",
        ],
        says("Yes, I can hear you."),
        share=1.5,
    ),
    Skill(
        "help",
        [
            "help",
            "i need [some] help",
            "what (can|do) you do",
            "what (can|could|should|may) i (say|ask) [you]",
            "what do you (know|understand)",
            "how can you help [me]",
            "how does this work",
            "what are you able to do",
            "what are your (skills|abilities|features)",
            "what you can do",
            "who can help me",
        ],
        says(
            f"I can {ABILITIES}; I also set alarms and reminders, keep lists, work out tips, and count days and numbers."
        ),
        share=2,
    ),
    Skill(
        "stop",
        [
            "stop [it|that|talking|please]",
            "never mind",
            "forget it",
            "cancel [it|that]",
            "be (quiet|silent)",
            "(shut|hush) up",
            "that is enough",
            "(enough|silence|quiet|wait|pause|hold on)",
            "(wait|hold on) a (minute|moment|second)",
            "no stop",
        ],
        says("Okay."),
        share=2,
    ),
    Skill(
        "acknowledgement",
        [
            "(okay|ok|yes|yeah|no|nope|nah|right|alright|all right|sure|exactly|i see)",
            "(great|cool|nice|good|fine|perfect|wonderful)",
            "(yes please|no thanks|no thank you)",
            "(that is|very) (good|nice|great|right|correct|fine|cool)",
        ],
        says("Okay."),
        whole=False,
        may_end=always,
        share=1.5,
    ),
    Skill("sorry", ["[i am] sorry [about that]", "i apologize"], says("No problem.")),
    Skill(
        "compliment",
        ["i (love|like) you", "you are (great|nice|smart|clever|funny|amazing|cool)"],
        says("Thank you, that is kind of you."),
    ),
    Skill(
        "goodbye",
        [
            "(goodbye|bye) [bye|then|now|for now]",
            "see you [later|soon|tomorrow]",
            "(talk to you|see you) (later|soon)",
            "hang up",
            "(end|stop|finish) the (call|conversation)",
            "that is all",
            "have a (nice|good|great) day",
            "i have to go [now]",
        ],
        says("Goodbye.", ends_call=True),
        share=2,
    ),
]
