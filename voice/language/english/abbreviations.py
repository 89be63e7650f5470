"""English abbreviations: their spoken forms, and where their dot ends a sentence.

"Dr.", "St.", "No." and "Sec." have a second spoken form: see `voice.language.english.reading.abbreviations`.
"""

import re

from voice.language.abbreviations import Abbreviations

_UNITS_WITH_DOT = (
    "oz", "lb", "lbs", "ft", "in", "yd", "mi", "tsp", "tbsp", "Tbsp", "hr", "hrs", "yr", "yrs", "mos", "min", "mins",
    "sec", "secs", "qt", "pt", "pts", "gal", "c",
)  # fmt: skip
ENGLISH = Abbreviations(
    leading={
        "e.g.": "for example", "i.e.": "that is", "vs.": "versus", "approx.": "approximately", "cf.": "compare",
        "ca.": "about", "c.": "circa", "est.": "estimated", "Fig.": "Figure", "fig.": "figure",
        "ext.": "extension", "Vol.": "Volume",
        "vol.": "volume", "ch.": "chapter", "p.": "page", "pp.": "pages", "max.": "maximum", "min.": "minimum",
        "Apt.": "Apartment", "Art.": "Article", "Mt.": "Mount", "a.k.a.": "also known as", "w/o": "without",
        "w/": "with", "b/c": "because", "incl.": "including", "fl.": "fluid", "Rte.": "Route", "Eq.": "Equation",
        "eq.": "equation", "op.": "opus", "Op.": "Opus", "nos.": "numbers", "Nos.": "Numbers", "Sc.": "Scene",
        "c/o": "care of",
        "Mr.": "Mister", "Mrs.": "Missus", "Ms.": "Miz", "Mx.": "Mix", "Prof.": "Professor", "Rev.": "Reverend",
        "Hon.": "Honorable", "Gov.": "Governor", "Sen.": "Senator", "Rep.": "Representative", "Gen.": "General",
        "Col.": "Colonel", "Capt.": "Captain", "Lt.": "Lieutenant", "Sgt.": "Sergeant", "Bldg.": "Building",
        "Rm.": "Room", "Ste.": "Suite", "Pres.": "President", "Amb.": "Ambassador", "Atty.": "Attorney",
        "Msgr.": "Monsignor", "Sec.": "Secretary", "Ft.": "Fort", "sq.": "square",
    },
    names={
        "Dr.": "Doctor", "St.": "Saint", "Jr.": "Junior", "Sr.": "Senior", "Ph.D.": "P H D", "M.D.": "M D", "al.": "al",
        "dept.": "department", "Dept.": "Department", "Inc.": "Incorporated", "Ltd.": "Limited",
        "Corp.": "Corporation", "Co.": "Company", "U.S.A.": "U S A", "U.S.": "U S", "U.K.": "U K", "E.U.": "E U",
        "D.C.": "D C", "Jan.": "January", "Feb.": "February", "Mar.": "March", "Apr.": "April", "Jun.": "June",
        "Jul.": "July", "Aug.": "August", "Sept.": "September", "Sep.": "September", "Oct.": "October",
        "Nov.": "November", "Dec.": "December",
    },
    trailing={
        "a.m.": "A M", "p.m.": "P M", "etc.": "et cetera", "Ave.": "Avenue", "Rd.": "Road", "Blvd.": "Boulevard",
        "Ln.": "Lane", "Pl.": "Place", "Sq.": "Square", "Hwy.": "Highway", "Pkwy.": "Parkway",
        "Mon.": "Monday", "Tue.": "Tuesday", "Tues.": "Tuesday", "Wed.": "Wednesday", "Thu.": "Thursday",
        "Thur.": "Thursday", "Thurs.": "Thursday", "Fri.": "Friday", "Sat.": "Saturday", "Sun.": "Sunday",
    },
    words=frozenset((
        "mar.", "sun.", "sat.", "wed.", "jun.", "jul.", "fri.", "mon.", "hon.", "gen.", "rep.", "sec.", "ste.",
        "pres.", "st.", "art.",
    )),
    starters=re.compile(
        r"The|This|That|These|Those|It|Its|He|She|We|You|They|I|In|On|At|But|And|Or|So|If|When|Then|There|Here|"
        r"What|Where|Why|How|Is|Are|Was|Were|Do|Does|Did|Can|Could|Would|Should|Please|Yes|No|Not|My|Your|"
        r"His|Her|Our|Their|A|An|For|From|With|After|Before|As|Also|However|Let|Some|Most|Many|Both|All|Each|"
        r"Now|Well|Just|Take|Turn|Next|Another|Once|While|Because|Since|Although|To|By|Call|Come|Go"
    ),
    goes_on=re.compile(
        r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|[ECMPU]?[SD]?T"
        r"|[NS][EW]|Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec|GMT|UTC|CES?T|Eastern|Pacific"
    ),
    before_numbers=frozenset(
        ("p.", "c.", "pp.", "ch.", "min.", "max.", "est.", "vol.", "fig.", "op.", "eq.", "nos.", "sc.")
    ),
    # "no." is a number after these, "No." after any word; else it is an answer.
    numbered=re.compile(
        r"\b(?i:order|account|invoice|room|bus|flight|ticket|page|platform|line|phone|item|case|part|serial) no\.$"
        r"|\d, no\.$|[\w'’][,;]? No\.$"
    ),
    amount=re.compile(
        rf"(?:[\d½¼¾⅓⅔][\s-]?(?:sq\. |fl\. )?|/)(?:{'|'.join(sorted(_UNITS_WITH_DOT))}|(?<=/)mo)\.$"
    ),
    name=re.compile(r"(?!I\.)(?:[^\W\d_]\.)*[^\W\d_]\."),
)  # fmt: skip
