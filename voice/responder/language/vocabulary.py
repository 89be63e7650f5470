"""Word tables, and common words for generated requests to spell."""


def words(table: str) -> tuple[str, ...]:
    """The words of a table that is written as running text."""
    return tuple(table.split())


COMMON_WORDS = words("""
necessary giraffe accommodate rhythm separate definitely receive believe weird beautiful because tomorrow restaurant
calendar library february wednesday knowledge island neighbor science business environment government embarrassed
occurred beginning committee conscience conscious disappear disappoint discipline existence experience familiar foreign
friend grammar guarantee happened height humorous immediately independent intelligence interest interrupt judgment
leisure license lightning maintenance millennium miniature misspell muscle mysterious ninety noticeable occasion
parallel particular people perform permanent possession possible potato potatoes preferred privilege probably
pronunciation psychology question queue really recommend reference religious remember schedule scissors secretary
sentence sergeant similar sincerely soldier special speech strength successful surprise technique temperature
thorough though thought through together truly twelfth until unusual vacuum vegetable vehicle visible weather
weight whether which women writing yacht yesterday zebra elephant crocodile kangaroo rhinoceros hippopotamus penguin
dolphin octopus butterfly squirrel chicken rabbit monkey tiger lion horse sheep mouse snake turtle eagle spider
banana apple orange strawberry raspberry pineapple cherry lemon tomato onion carrot broccoli cabbage lettuce spinach
cucumber garlic ginger chocolate coffee sugar butter cheese yogurt sandwich spaghetti pancake sausage biscuit
cinnamon mayonnaise hello goodbye please thank sorry family mother father brother sister daughter grandmother uncle
cousin husband teacher doctor engineer lawyer farmer nurse scientist musician president mountain river ocean desert
forest valley village city country bridge street airport station hospital school university church castle museum
theater kitchen bathroom bedroom garden garage window door table chair mirror pillow blanket candle bottle spoon
knife plate computer telephone television camera keyboard internet message letter paper pencil picture music guitar
piano violin orchestra concert theatre movie story magazine newspaper dictionary alphabet language english spanish
french german italian portuguese japanese chinese russian january march april may june july august september october
november december monday tuesday thursday friday saturday sunday morning afternoon evening midnight century minute
second hour spring summer autumn winter rain snow thunder storm rainbow cloud sunshine hurricane tornado earthquake
volcano planet jupiter saturn mercury galaxy universe astronaut rocket satellite telescope gravity energy electricity
oxygen hydrogen carbon chemistry biology physics mathematics geometry algebra geography history philosophy literature
poetry religion politics economy industry factory company market money currency dollar bicycle motorcycle airplane
helicopter ship submarine train traffic journey holiday vacation adventure passport luggage suitcase hotel red yellow
green blue purple black white brown silver golden happy angry hungry thirsty tired afraid lonely jealous curious
brave honest polite generous gentle patient clever stubborn world water fire earth light house people number color
pharmacy bakery supermarket umbrella sweater jacket trousers sneakers
""")
"""Words of all kinds, some of them difficult to spell."""
