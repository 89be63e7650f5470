"""The words of English turns."""

import re

from voice.language.turn_words import QuestionPatterns, TurnWords, alternatives

_VERBS = r"(?:tell me|give me|provide|let me (?:know|have)|say|repeat|read|enter|share|confirm|spell|describe|explain)"

ENGLISH = TurnWords(
    code="en",
    decimal_mark=".",
    lead_ins={
        "greeting": (
            "hello", "hi", "hey", "there", "again", "good morning", "good afternoon", "good evening", "everybody",
            "everyone", "computer", "turnaround", "wait", "hold on", "hang on", "wait a second", "wait a minute",
            "wait a moment", "just a second", "just a minute", "just a moment", "one second", "one moment",
            "excuse me", "sorry", "i see", "great", "good", "perfect", "cool", "nice", "wonderful",
        ),
        "joint": (
            "so", "well", "now", "then", "and", "but", "oh", "ah", "um", "uh", "uhm", "erm", "er", "hm", "hmm", "mm",
            "actually", "also", "anyway", "listen", "look", "let me see", "let me think", "one more thing",
        ),
        "no": (
            "no", "nope", "nah", "no thanks", "no thank you", "not really", "not at all", "i don't", "i'm not",
            "it isn't",
        ),
        "yes": (
            "yes", "yeah", "yep", "yup", "sure", "okay", "ok", "right", "correct", "exactly", "absolutely",
            "definitely", "certainly", "fine", "please", "alright", "all right", "of course", "go ahead", "why not",
            "i do", "i am", "i would", "it is", "that is right", "that's right", "that is correct", "that's correct",
            "sounds good",
        ),
    },
    backchannels=(
        "yes", "yeah", "yep", "yup", "ya", "okay", "ok", "right", "alright", "all right", "sure", "correct", "exactly",
        "absolutely", "definitely", "true", "indeed", "of course", "i see", "i know", "i get it", "got it", "gotcha",
        "makes sense", "sounds good", "that's right", "that is right", "that's true", "good", "great", "nice", "cool",
        "fine", "perfect", "wonderful", "wow", "really", "oh really", "no way", "no kidding", "interesting", "thanks",
        "thank you", "uh huh", "mm hmm", "mm hm", "mhm", "mm", "mmm", "hm", "hmm", "hmmm", "huh", "ha", "haha", "ah",
        "aha", "oh", "uh", "um", "uhm", "er", "erm", "eh", "aw", "ooh", "and", "so", "then",
    ),
    laughter=("ha", "hah", "he", "heh", "hee", "la", "ho", "hoh", "hu", "huh", "uh", "hm", "ah", "eh"),
    stops=(
        "stop", "wait", "no", "nope", "hold on", "hang on", "hold it", "never mind", "nevermind", "forget it", "cancel",
        "enough", "that's enough", "that is enough", "that will do", "quiet", "be quiet", "shut up", "pause", "silence",
        "excuse me", "sorry", "pardon", "actually", "listen", "hey", "hello", "one moment", "one second",
        "just a second", "just a moment", "just a minute", "wrong", "that's wrong", "that's not", "that is not",
        "not that", "i said", "i meant", "i mean", "skip", "next", "repeat", "go back", "say that again", "again",
        "what was that", "help", "goodbye", "let me", "can i", "may i", "i don't", "don't", "instead",
        "rather",
    ),
    never_own=frozenset(
        ("yes", "yeah", "yep", "no", "nope", "okay", "stop", "wait", "pause", "enough", "quiet")
    ),
    go_on=(
        "go on", "continue", "carry on", "keep going", "keep talking", "keep reading", "read on", "proceed", "more",
        "tell me more", "please do", "do", "do go on", "you may", "you can", "the rest", "i'm listening", "mm hmm",
        "mm hm", "mm", "mhm", "uh huh", "yes please", "just go on", "go for it", "by all means", "i'd like that",
    ),
    polite=("please", "thanks", "thank you"),
    thanks=r"thanks|thank you|thank you (?:very|so) much|thanks a lot|many thanks",
    farewell=(
        r"good ?bye|bye|bye bye|see you|see you (?:later|soon|tomorrow|around)|talk to you (?:later|soon|tomorrow)|"
        r"speak to you (?:later|soon)|until next time|take care|good night|hang up|"
        r"(?:please )?(?:end|finish) (?:the|this) (?:call|conversation)|"
        r"(?:that is|that's|that will be|that'll be) (?:all|it|everything)(?: (?:for )?(?:now|today))?|"
        r"(?:have a|you have a) (?:nice|good|great|lovely) (?:day|evening|night|weekend|one)|"
        r"i (?:have to|need to|must|should|got to|gotta) go(?: now)?"
    ),
    around_farewell=(
        r"okay|ok|alright|all right|well|so|yes|no|great|perfect|thanks|thank you|thank you very much|"
        r"thank you so much|thanks a lot|many thanks|then|now|for now|you too|and|very much|please|everybody|everyone"
    ),
    questions=QuestionPatterns(
        opening=re.compile(
            r"^(?:(?:and|so|okay|ok|well|now|great|perfect|thanks|thank you|all right|alright|sorry|sure|yes|no|then|"
            r"just|to confirm|in that case)\b[\s,]*)+"
        ),
        spelling=re.compile(r"\bspell(?:ing|ed)?\b|\bletter by letter\b"),
        number=re.compile(
            r"\b(?:phone|telephone|mobile|cell|account|card|order|reference|confirmation|tracking|serial|customer|"
            r"member|policy|case|ticket|booking|routing|security|insurance|licen[cs]e|passport|invoice|id|contact|"
            r"callback|this|the|your|what) numbers?\b|\b(?:digits?|zip|postcode|pin|passcode)\b|"
            r"\b(?:postal|area|access|security|verification|confirmation|sort) code\b"
        ),
        wants=re.compile(
            rf"^(?:please )?(?:go ahead and )?{_VERBS}\b|\bi(?:'ll| will| would|'d)? (?:need|like) |"
            rf"\b(?:can|could|would|will) you (?:please )?{_VERBS}\b|"
            r"\b(?:may|can|could) i (?:please )?(?:have|get|take|ask)\b"
        ),
        telling=re.compile(
            r"\b(?:tell me (?:more|about|what|why|how)|describe|explain|what happened|what(?: is|'s) (?:wrong|"
            r"the (?:problem|matter|issue)|going on|up)|what (?:can|could|may) i|what would you like (?:me )?to|"
            r"what brings you|what do you think|why|how (?:can|may|could) i|how are|how was|how did|how do you feel|"
            r"who am i speaking)\b"
        ),
        offer=re.compile(r"\b(?:anything|something) (?:else|more)\b"),
        yes_no=re.compile(
            r"^(?:do|does|did|is|are|am|was|were|will|would|shall|should|can|could|may|have|has|had|any|ready|"
            r"(?:don't|doesn't|didn't|isn't|aren't|wasn't|won't|wouldn't|shouldn't|can't|haven't|hasn't))\b"
        ),
        tag=re.compile(
            r"(?:^|[,–—-]\s*)(?:is that )?(?:right|correct|okay|ok|yes|no|true|isn't it|is it|do you|don't you|"
            r"shall we)\s*\?$"
        ),
        states=re.compile(r"^(?:you|you're|that|that's|it|it's|this|we|we're|they|there|i|i'm|he|she)\b"),
        choice=re.compile(r"\bor (?!not\b|no\b)"),
        asks=re.compile(r"\b(?:what|which|who|whom|whose|when|where|why|how)\b"),
    ),
    digits=frozenset(
        ("zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    ),
    in_numbers=re.compile(
        alternatives(
            (
                "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
                "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred",
                "double", "triple", "dash", "hyphen",
            )
        )
    ),
    as_in=re.compile(r"\b([a-z]) (?:as in|like|for) [a-z]+"),
)  # fmt: skip
