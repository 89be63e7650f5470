"""Whole utterances whose answer the listener can check at once. English only; nothing is easy unless all of it matches."""

import re

from voice.llm.routing.difficulty import Difficulty

_SMALL_TALK = (
    r"(?:hi|hello|hey|hiya|howdy|greetings)(?: there| again| you)?(?: (?:it's|it is|this is) (?:me|\w+)(?: again)?)?",
    r"(?:hi|hello|hey)? ?good (?:morning|afternoon|evening|day|night)(?: to you)?",
    r"(?:hi|hello|hey)?(?: there)? ?how(?:'s| is| are| have)(?: it| you| things| your day| everything)?(?: been)?(?: going| doing)?"
    r"(?: today| tonight)?",
    r"(?:i'm|i am|we're|all) (?:fine|good|well|great|okay|ok|alright)(?: thanks| thank you)?(?: and| how about)?(?: you)?",
    r"(?:what's|what is) up", r"it's me(?: again)?",
    r"(?:okay |ok |great |alright |perfect |lovely |oh )*(?:thanks?(?: you)?|cheers|much appreciated|ta)(?: (?:so|very) much| a lot| again)?"
    r"(?: (?:for|that|this|you)\b(?: \w+){0,5})?",
    r"(?:you're|you are) (?:welcome|funny|great|awesome|the best|nice|sweet|kind|helpful|amazing)",
    r"(?:no worries|no problem|my pleasure|never mind that|don't worry(?: about it)?|all good)",
    r"(?:i'm )?(?:so |very )?sorry(?: about (?:that|this))?(?: again)?", r"my (?:bad|mistake|apologies)",
    r"(?:good ?)?bye(?: ?bye)?(?: (?:for )?now)?(?: (?:talk|see|speak)(?: \w+){1,3})?",
    r"(?:talk|see|speak|catch) (?:to )?(?:you|ya)(?: \w+){0,3}", r"take care(?: of yourself)?",
    r"have a (?:nice|good|great|lovely|wonderful|pleasant) (?:day|one|evening|night|weekend|time|morning|afternoon)",
    r"(?:that's|that is|that will be|that'll be)(?: (?:all|it|everything))(?: for (?:now|today))?",
    r"(?:it's |it was )?(?:nice|good|great|lovely|pleased)(?: to)? (?:meet|meeting|hear|talk|talking|see|speak)(?:ing)?(?: to| with| from)? you",
    r"(?:what's|what is) your (?:name|favou?rite \w+)", r"(?:who|what) are you(?: called)?", r"who am i (?:talking|speaking) (?:to|with)",
    r"are you (?:a |an )?(?:real|human|robot|machine|person|computer|there|ai|bot|okay|ok|alive|still there|listening)(?: person| human)?",
    r"(?:can|do) you (?:hear|understand) me(?: now| okay)?", r"(?:is )?(?:anybody|anyone|somebody|someone)(?: there| here| home)",
    r"what (?:can|do|could) you do(?: for me)?", r"what are you(?: able to do)?",
    r"(?:tell|give|do you (?:know|have)|know|got)(?: me)? (?:a|any|another|some|one more)(?: \w+)? ?(?:jokes?|riddles?|puns?)(?: about \w+(?: \w+)?)?",
    r"make me laugh", r"sing (?:me )?(?:a song|something)",
    r"(?:ha ?)+(?: that(?:'s| is| was))?(?: (?:so|very|really|pretty))?(?: (?:funny|hilarious|good|great|a good one))?",
    r"(?:oh |wow |ooh |haha )*(?:that|this|it)(?:'s| is| was| sounds)(?: (?:so|very|really|pretty|quite))?"
    r" (?:nice|great|cool|funny|hilarious|awesome|good|amazing|lovely|quick|fast|sweet|fun|impressive|interesting|perfect|sad|wonderful)",
    r"(?:wow|cool|nice|great|awesome|perfect|excellent|wonderful|lovely|amazing|interesting|oh|ah|hm+|mm+|well|so)(?: wow| nice| cool| great)?",
    r"(?:that|the|your) (?:joke|song|one) was(?: (?:so|very|really))? ?(?:good|great|funny|bad|terrible|nice|awful)?",
    r"i (?:really )?(?:like|love)(?: the sound of)? (?:you|your \w+|it|that|this)", r"you (?:sound|are|seem|look)(?: (?:so|very|really))? ?(?:\w+)?",
    r"happy (?:birthday|new year|holidays|easter)(?: to (?:you|me))?", r"merry christmas", r"congratulations|well done|good job",
    r"(?:welcome|cheers|bless you)",
)  # fmt: skip
_TIME = (
    r"(?:what|which)(?:'s| is| was)? ?(?:the |today's |tomorrow's |yesterday's |this )?(?:time|date|day|year|month|week ?day|day of the week)"
    r"(?: (?:is it|is today|today|tomorrow|now|right now|it is|of the (?:week|month) is (?:it|today)|are we))*(?: in [a-z]+(?: [a-z]+)?)?",
    r"which day of the week is (?:it|today)", r"(?:can you |could you |do you )?(?:tell me|know|have|give me)(?: what)? (?:the |what )?"
    r"(?:time|date|day|day it is|time it is)(?: (?:it is|now|today|right now))?",
    r"(?:is )?(?:it|today)(?: already| really| still)? (?:mon|tues|wednes|thurs|fri|satur|sun)day(?: or (?:mon|tues|wednes|thurs|fri|satur|sun)day)?"
    r"(?: today| already)?", r"how late is it",
)  # fmt: skip
_REPEAT = (
    r"(?:excuse me |sorry |pardon |oh |what )*(?:can|could|would|will) you(?: just)?(?: please)? (?:repeat|say|read)"
    r"(?: (?:that|it|this|the last (?:\w+)|what you (?:just )?said))?"
    r"(?: (?:again|once more|one more time|(?:a bit|a little|more)? ?(?:slower|louder|slowly|clearly)|(?:a bit|a little) more \w+))*",
    r"(?:repeat|say|read|tell me)(?: (?:that|it|this|the last (?:sentence|word|part|bit|thing|one)|what you said))?"
    r"(?: (?:again|once more|one more time|to me))*",
    r"(?:sorry|excuse me|oh|pardon|pardon me|beg your pardon|i'm sorry)?(?: but)? ?(?:i )?(?:didn't|did not|couldn't|can't|don't)"
    r"(?: (?:quite|really))? (?:catch|hear|get|understand)(?: (?:that|you|it|what you said|the last \w+))?",
    r"(?:sorry|excuse me)(?: i missed(?: that| it)?| what(?: was that| did you say)?| come again)?", r"i missed (?:that|it)",
    r"pardon(?: me)?", r"come again", r"huh|what|eh|hm+", r"(?:once|one) more(?: time)?", r"again",
    r"(?:what|who|which|where)(?: (?:was|did)) (?:that|you|it|the last (?:\w+)|that last (?:\w+))(?: (?:say|said|again|just say|mean))*",
    r"what did i (?:ask|tell) you(?: to remember)?|what did i (?:just )?say|what did you(?: just)? say|what were you saying",
    r"where were we",
)  # fmt: skip
_YES_NO = (
    r"(?:yes|yeah|yep|yup|sure|okay|ok|right|alright|fine|correct|exactly|true|indeed|of course|certainly|absolutely|definitely"
    r"|no|nope|nah|not (?:really|yet|now|today|at all|quite)|uh ?huh|mm+ ?hm+|maybe|perhaps|possibly|probably|wrong|false)"
    r"(?: (?:yes|yeah|no|sure|okay|please|thanks|thank you|indeed|not|it is|it's not|that's (?:right|correct|it|wrong|fine|true|okay)"
    r"|you're right|i (?:do|don't|am|think so|would|will)|go ahead|do (?:it|that)|of course|absolutely|why not))*",
    r"(?:that's|that is|it's|you're)(?: (?:absolutely|totally|exactly|all))? (?:right|correct|it|true|wrong|not (?:right|true|it)|incorrect|fine|okay)",
    r"i (?:think|guess|suppose|hope|believe)(?: so| not)", r"i don't (?:think so|know|care|mind)", r"(?:yes |no )?(?:go ahead|do it|please do|sounds good|why not|not sure)",
    r"i'm (?:not )?sure",
)  # fmt: skip
_COMMAND = (
    r"(?:set|start|make|create|put on|give me|add|cancel|stop|pause|resume|delete|remove|clear|reset|snooze|check|change|turn off|switch off|extend)"
    r"(?: up)?(?: (?:a|an|the|my|that|this|another|all|any|both))?(?: (?:\w+[ -]){0,4})?(?:timers?|alarms?|stopwatch|countdown|reminders?)"
    r"(?: (?:for|at|to|by|in|called|of)(?: [\w:']+){1,8})?",
    r"add(?: [\w']+){1,3} (?:to|on) (?:the|my) (?:timer|alarm)",
    r"(?:wake me(?: up)?|get me up)(?: (?:at|in|by|around|tomorrow))(?: [\w:']+){0,5}",
    r"remind me(?: (?:to|about|of|that|at|in|when|tomorrow))(?: [\w:']+){1,12}",
    r"(?:remember|note|don't forget|keep in mind|make a note)(?: (?:that|my|this|the|i|we|it's|to))(?: [\w:']+){1,12}",
    r"(?:stop|pause|resume|continue|go on|carry on|next|previous|back|skip|go back|play|mute|unmute|enough|quit|cancel|snooze|start over|start again"
    r"|be quiet|quiet|silence|shut up|hush|proceed|keep going|shuffle|rewind|fast forward|abort|halt|undo)"
    r"(?: (?:it|that|this|one|now|talking|speaking|playing|please|again|from the beginning|on|off|the (?:song|track|music|one|video|podcast|radio))){0,2}",
    r"(?:skip|replay|pause|stop|resume)(?: (?:this|that|the|my|next|last|previous))*(?: \w+)?"
    r" (?:songs?|tracks?|music|video|podcast|radio|playlist|album|news|station|story|reading)",
    r"play(?: [\w']+){1,6}",
    r"(?:never ?mind|forget (?:it|that|about it)|leave it|don't bother|scratch that|ignore that)",
    r"(?:wait|hold on|hang on|one|just|give me|hold)(?: (?:for|on|up|just))*(?: (?:a|one|two))?(?: (?:second|sec|minute|moment|bit|moments|seconds))?(?: please)?",
    r"(?:turn|switch|put|dim|brighten|kill)(?: (?:up|down|on|off))?(?: (?:the|my|all|that|some))*(?: (?:kitchen|bedroom|living room|bathroom|hall|desk|reading))?"
    r"(?: (?:lights?|lamps?|volume|music|sound|tv|television|radio|fan|screen|brightness))(?: (?:up|down|on|off))?(?: a (?:bit|little|notch))?",
    r"(?:make it |a (?:bit|little) |much )?(?:louder|quieter|softer|faster|slower|higher|lower|brighter|darker)(?: a bit| a little)?",
    r"(?:lower|raise|increase|decrease|reduce|mute|change)(?: the)? (?:volume|brightness|sound|music)(?: (?:a bit|a little|to \w+|by \w+))*",
    r"(?:speak|talk|go|read)(?: (?:up|a bit|a little|more|much))*(?: (?:slower|faster|louder|quieter|slowly|clearly|quietly|quickly|loudly))?",
    r"mute(?: yourself| the \w+)?|be (?:quick|brief|quiet)|unmute(?: yourself)?",
    r"(?:switch|change|speak)(?: (?:to|in|the language to))* (?:english|spanish|french|german|italian|dutch|portuguese|chinese|japanese|korean|polish|russian|turkish)",
    r"(?:spell|how do you spell)(?: out)?(?: (?:the word|it|that|my name))?(?: [\w']+){0,3}",
    r"count(?: (?:up|down|from|to|backwards?))*(?: [\w]+){0,4}",
    r"(?:flip|toss|throw|roll)(?: (?:a|the|some|two|one|me))? (?:coins?|dice|die)(?: again)?", r"heads or tails",
    r"(?:start|begin)(?: (?:over|again|from the (?:top|beginning)))?",
)  # fmt: skip


def _whole(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


WHOLE: tuple[tuple[Difficulty, re.Pattern[str]], ...] = (
    ("reply", _whole(_YES_NO)),
    ("time", _whole(_TIME)),
    ("repeat", _whole(_REPEAT)),
    ("small talk", _whole(_SMALL_TALK)),
    ("command", _whole(_COMMAND)),
)
"""Patterns that must match all of what is said."""
