"""Words that show that an error would matter. English only; what they miss is "open", never easy.

One pattern for each class. They are tried in the order of `CAREFUL_WORDS`: what may hurt somebody comes first.
"""

import re

_NUMBER = (
    r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|"
    r"eigh|nine)ty|hundred|thousand|million|half|quarter|third|dozen)"
)
_MONEY = r"""
    money | cash | [$£€¥] | (?:euro|dollar|buck|quid|penn(?:y|ie))s? | cents | """ + _NUMBER + r"""\ pounds
  | pay(?!\ attention) | pays | paid | paying | payments? | payroll | owe[sd]? | debts? | (?:the|my|a|an|this|our|\w+ity)\ bills?
  | invoices? | over ?charged? | charged | (?:a|the)\ charge | refund(?:s|ed)? | balance | accounts? | savings | banking
  | (?:my|the|a|your)\ bank(?!\ of\ the\ river) | (?:credit|debit)\ (?:card|limit|score|report) | (?:my|the)\ card
  | credit | loans? | mortgages? | interest\ (?:rates?|on|do|is) | (?:exchange|tax)\ rates? | tax(?:es)? | fees?
  | pric(?:e|es|ed|ing|ey) | costs? | cheap(?:er|est)? | expensive | afford | discounts? | coupons? | vouchers?
  | buy | buying | bought | purchase[sd]? | (?<!in\ )(?<!the\ )order(?:s|ed|ing)?(?!\ of\ the\ day) | sell | sold
  | invest(?:ed|ing|ments?|or)? | stocks? | shares\ (?:in|of) | bonds | bitcoins? | crypto\w* | salar(?:y|ies) | wages?
  | income | pensions? | insur(?:ance|ed) | premium | deductible | deposits? | withdraw(?:al|n)? | transfer\w* | wire
  | transactions? | (?:my|bank|the)\ statement | overdraft | overdrawn | budget | tip\ (?:the|him|her|them) | my\ rent
  | upgrade | downgrade | top\ up | spend | spent | (?:reward|loyalty|bonus)\ points | currency | dividends? | donat\w+
  | financ\w+ | profits? | lottery | fraud | scam(?:med)? | stolen | how\ much\ (?:is|are|does|do|will|would|did)
"""
_HEALTH = r"""
    doctors? | physician | nurse | ambulance | pills? | tablets? | medic(?:ine|ines|ation|ations|al|ally) | drugs?
  | dos(?:e|es|age|ages) | overdos\w+ | prescri\w+ | pharmac\w+ | ibuprofen | paracetamol | acetaminophen | aspirin | tylenol
  | antibiotics? | insulin | vaccin\w+ | painkillers? | antidepressants? | vitamins? | supplements? | inject\w*
  | pain(?:s|ful)? | aches? | aching | hurts? | hurting | sore | headaches? | migraines? | fever | dizz\w+ | numb | nause\w+
  | vomit\w* | (?:thr[eo]w|throwing|thrown)\ up | bleed(?:s|ing)? | blood | breath(?:e|ing|less) | chest | heart | stroke
  | seizures? | faint(?:ed|ing)? | unconscious | pass(?:ed|ing)\ out | allerg\w+ | pregnan\w+ | breast\w* | rash | swell\w*
  | swollen | infect\w+ | cancer | tumou?rs? | (?:a|the|my|this)\ (?:mole|lump|bump) | diabet\w+ | cholesterol | asthma
  | inhaler | symptoms? | side\ effects? | diagnos\w+ | surg(?:ery|eon|eries) | injur\w+ | wound(?:s|ed)? | poison\w*
  | toxic | bleach | suicid\w+ | (?:kill|hurt|harm)(?:ing)?\ (?:myself|himself|herself|themselves) | emergency
  | (?:want|going)\ to\ die | (?:don't|do\ not)\ want\ to\ live | end\ (?:my|it\ all|his|her)\ life | overdosing
  | depress\w+ | anxiety | panic\ attacks? | therap(?:y|ist|ists) | psychiatr\w+ | psycholog\w+ | dentist | tooth | teeth
  | root\ canal | cough\w* | flu | covid | virus | (?:feel|feeling|felt|being|i'm|am|get|getting|got)\ (?:really\ |very\ )?sick
  | disease | illness | clinic | cardiolog\w+ | specialist | x[- ]?ray | mri | (?:blood|urine)\ test | rehab | addict\w+
  | (?:broke|broken|sprained|twisted|cut|burn(?:ed|t)?|hit)\ (?:my|his|her|a)\ \w+
  | (?:fell|fallen|falling|slipped)\ (?:down|off|over|and) | swallow\w* | chok(?:e|ed|ing) | drown\w* | bitten
  | (?:ok|okay|alright|safe|safely|healthy|bad|harmful|good)\ to\ (?:take|eat|drink|give|mix|use|combine|swallow|skip)
  | is\ (?:it|this|that)\ (?:bad|dangerous|safe|serious|normal|harmful|contagious|poisonous)
  | can\ (?:i|you|we|kids|children|babies|dogs|cats|my\ \w+)\ (?:safely\ )?(?:eat|drink|have)\ \w+ | dangerous | harmful
"""
_LAW = r"""
    legal(?:ly)? | illegal(?:ly)? | laws? | lawyers? | lawsuits? | attorneys? | court | judge | su(?:e|ed|ing) | contracts?
  | clauses? | leas(?:e|ing) | landlords? | landlady | tenan(?:t|ts|cy) | evict\w* | permits? | licen[cs]e | visas?
  | passports? | customs | immigra\w+ | citizen\w* | asylum | residency | divorc\w+ | custody | alimony
  | (?:my|his|her|a|the|last)\ will(?!\ (?:be|go|come))\b | inherit\w* | heirs? | police | arrest\w* | crim(?:e|es|inal) | prison | jail
  | (?:this|a|the|that|parking|speeding)\ fine | fined | fines | my\ rights? | entitled | allowed\ to | permitted | forbidden
  | against\ the\ (?:law|rules?) | (?:fire[sd]?|firing|dismiss(?:ed)?|sacked?)\ (?:me|him|her|for) | dismissal | severance
  | notice\ period | warrant(?:y|ies) | guarantee[sd]? | liab(?:le|ility) | tax\ returns? | copyright\w* | patents?
  | trademarks? | gdpr | testify | witness | accus\w+ | (?:press|drop|criminal)\ charges | (?:this|the|that|an)\ agreement
  | sign\ (?:this|the|it|that) | terms\ (?:of|and) | deadline\ for | regulations? | oblig\w+ | compensat\w+ | defam\w+
  | (?:do|does)\ (?:i|we|you|he|she|they)\ (?:legally\ )?have\ to | need\ a\ permit | probation | bail | eviction | notary
  | kick(?:ed)?\ (?:me|us|him|her)\ out | search\ my | bind(?:ing|s)
"""
_NUMBERS = r"""
    \d+(?:[.,:]\d+)?\s*(?:%|percent|per\ cent|times|plus|minus|divided|x|\*|/|\+)
  | """ + _NUMBER + r"""\ (?:percent|per\ cent|times|plus|minus|divided|squared|cubed|to\ the\ power)
  | percent(?:age)? | plus | minus | divided?\ by | divide | multipl\w+ | subtract | add\ """ + _NUMBER + r""" | sum\ of
  | average | median | square\ root | cube\ root | (?:half|third|quarter|quarters|fifth)\ of | convert\w* | calculat\w+
  | equals? | how\ many | how\ old\ (?:will|would|was|were|am) | how\ far | how\ much | how\ high\ is\ my | what\ percentage
  | (?:in|to|into)\ (?:miles|kilomet\w+|meters|metres|feet|inches|centimet\w+|pounds|kilos?|kilograms|ounces|grams|celsius
      |fahrenheit|gallons|lit(?:er|re)s|cups|seconds|minutes|hours)
  | fahrenheit | celsius | calories | grams?
  | (?:phone|flight|account|order|reference|confirmation|tracking|serial|booking|seat|room|case|policy|customer|telephone)
      \ numbers? | (?:the|my|a|your|confirmation|zip|postal|area|access|pin|security|dialling)\ (?:code|pin) | postcode
  | (?:the|my|your|their|his|her)\ address | until\ \w+ | \w+\ (?:days|weeks|months|years)\ (?:from|ago|before|after)
  | in\ """ + _NUMBER + r"""(?:[\s-]\w+)?\ (?:days|weeks|months|years)
  | (?:when|what\ time)\ (?:do|does|did|will|is|are)\ (?:my|the|our|his|her)\ (?:\w+\ )?(?:flight|train|bus|plane|ferry|tram|connection
      |meeting|appointment|last\ \w+|next\ \w+|first\ \w+)
  | (?:which|what)\ (?:gate|platform|seat|terminal|track|room)
  | if\ .{0,80}\b""" + _NUMBER + r"""\b.{0,80}\bhow\ (?:long|far|much|fast|old)
  | how\ (?:long|far|much|fast|old)\b.{0,80}\b""" + _NUMBER + r"""
"""
_STEPS = r"""
    step\ by\ step | walk\ me\ through | talk\ me\ through | guide\ me | first\b.{0,80}\bthen | then | after\ that | afterwards
  | plan\ (?:a|an|my|our|the|out|for) | (?:training|meal|business|study|travel|lesson|project|savings)\ plan | itinerary
  | organi[sz]e | arrange | coordinate | reschedul\w+ | compare | pros\ and\ cons | weigh\ up | figure\ out | work\ out
  | summari[sz]e | draft | troubleshoot\w* | debug\w* | diagnose | fix\ my | set(?:ting)?\ up\ (?:my|the|a)
  | help\ me\ (?:write|plan|prepare|decide|choose|find|set|fix|organi[sz]e) | prepare\ (?:me|for|a)
  | which\ (?:of\ (?:these|the|them)|one\ is\ better) | (?:these|the)\ (?:two|three|four|five)\ \w+
  | what\ do\ (?:i|we)\ (?:need|have)\ to\ do | if\ .{0,80}\b(?:otherwise|else) | shopping\ list | schedule\ (?:a|my|all|the)
  | (?:check|look|find|search|call|book|tell|ask|make|write|read|get|move|reset|take|buy|send|open|go)\b.{0,80}
      \band\ (?:then\ )?(?:tell|text|book|rent|send|get|answer|check|ask|make|call|write|let|cancel|order|add|move|put|see|read)
  | from\ .{0,80}\bto\ .{0,80}\b(?:and|then)\b.{0,80}\bto
  | \w+\ all\ (?:of\ )?(?:my|our|the)
"""


def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of whole words, written with white space for the eye."""
    return re.compile(rf"(?<![\w'])(?:{pattern})(?![\w'])|[$£€]", re.VERBOSE)


CAREFUL_WORDS = {
    "health": _compiled(_HEALTH),
    "money": _compiled(_MONEY),
    "law": _compiled(_LAW),
}
"""Subjects in which every word of the domain counts."""
TASK_WORDS = {"steps": _compiled(_STEPS), "numbers": _compiled(_NUMBERS)}
"""Tasks in which a mistake is not noticed; looked for once the words are known to be no small command."""

HARMLESS = re.compile(
    r"(?<![\w'])(?:thanks?(?: you)? a (?:million|lot)|thank you a (?:million|thousand times)|a million thanks"
    r"|like a million(?: dollars| bucks)?|(?:my|your) two cents|pay attention|you bet|time is money|break a leg"
    r"|(?:i'm |im |i am )?(?:dying|dead)(?: over here| laughing| of laughter)?(?= |$)(?<!dying to)(?! for| from)"
    r"|(?:was|is|so|that's|pretty) sick(?= (?:man|dude|bro|joke|beat)|$)|kill(?:ing)? (?:it|time|the lights?)"
    r"|in order to|sick of|blood type of joke|heart of|by heart|head start|(?:from|of) the bottom of my heart"
    r"|bank of the river|river ?bank|no problem|for free|pain in the neck|broken record)(?![\w'])"
)
"""Sayings whose words would sound serious."""
