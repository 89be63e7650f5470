"""What models write beside words is never spoken, written calls are found, and the rest passes, however it is cut."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from voice.llm.streamed.cleaner import AnswerCleaner, Piece, Retraction
from voice.llm.streamed.written_calls import WrittenCall

TOOLS = frozenset(["weather", "opening_hours", "charge"])
PARIS = ("weather", {"city": "Paris"})
CHARGE = '{"name": "charge", "arguments": {"amount": "9"}}'
CALL = '{"name": "weather", "arguments": {"city": "Paris"}}'
Result = tuple[str, list[tuple[str, dict[str, object]]]]


def cleaned(chunks: Sequence[str], *, withholds: bool = False) -> Result:
    """The words that remain at the end, and the calls."""
    cleaner = AnswerCleaner(tools=TOOLS, withholds=withholds)
    pieces: list[Piece] = [piece for chunk in chunks for piece in cleaner.feed(chunk)]
    words, calls = "", []
    for piece in [*pieces, *cleaner.flush()]:
        match piece:
            case str():
                words += piece
            case Retraction():
                assert piece.length <= len(words)
                words = words[: len(words) - piece.length]
            case WrittenCall():
                calls.append((piece.name, piece.arguments))
    return words, calls


def cut(text: str, seed: int) -> list[str]:
    """A text in random chunks; in single characters for the seed 0."""
    draw = random.Random(seed)
    bounds = range(1, len(text)) if seed == 0 else sorted(draw.randrange(len(text) + 1) for _ in range(seed % 9))
    edges = [0, *bounds, len(text)]
    return [text[start:end] for start, end in zip(edges, edges[1:], strict=False)]


def every_way(text: str) -> Result:
    whole = cleaned([text])
    for seed in range(40):
        assert cleaned(cut(text, seed)) == whole, cut(text, seed)
    return whole


@pytest.mark.parametrize(
    "text",
    [
        "It is ten past four.",
        "a < b, and 1 <3 but <b>bold</b> is markup, as is <name>.",
        "<thin",
        "  ",
        "",
        "See [1], [weather] and {name}, `code`, ```python\nprint(1)\n```, <https://example.org>.",
        '{"name": "Bob", "age": 5} is an object, and so is {"type": "x"}.',
        "I think, therefore I am thinking. What do you think?",
        "Write `<think>` in front and `</think>` behind it.",
        "The user must log in first. Then it works.",
        "Okay, so the user interface is new.",
        "The usernames are long.",
        "Call weather(city) or [note: none].",
        "Use a <| b. This is the rest of it.",
        "Write a <| f x |> b in that language.",
        "If x < think of a number > y, then x << y <<S.",
        'The set {"name" is open. Nothing closes it.',
    ],
)
def test_ordinary_text_passes_as_it_is(text: str) -> None:
    assert every_way(text) == (text, [])


@pytest.mark.parametrize("text", ["Well, it is", "The ", "Okay", "So the", "a ", "An", "Hello.", "First,"])
def test_ordinary_words_pass_at_once(text: str) -> None:
    assert AnswerCleaner().feed(text) == [text]


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("<think>They want the time.</think>\n\nIt is ten.", "It is ten."),
        ("\n<think>\n\n</think>It is ten.", "\nIt is ten."),
        ("<think>never comes to an end", ""),
        ("< think >x< /think >It is ten.", "It is ten."),
        ("<thought_process>x</thought_process>It is ten.", "It is ten."),
        ("<plan>x</plan>It is ten.", "It is ten."),
        ("<scratch_pad>x</scratch_pad>It is ten.", "It is ten."),
        ("<inner_thoughts>x</inner_thoughts>It is ten.", "It is ten."),
        ("<chain-of-thought>x</chain-of-thought>It is ten.", "It is ten."),
        ("<Chain_Of-Thought>x</ chainofthought>It is ten.", "It is ten."),
        ("[THINKING]x[/THINKING]It is ten.", "It is ten."),
        ("```thinking\nx\n```\nIt is ten.", "It is ten."),
        ("```thought\nx `y` z\n```It is ten.", "It is ten."),
        ("```tool_code\nprint(1)\n```\nIt is ten.", "It is ten."),
        ("```thinking\nand so on", ""),
        ("<think/>It is ten.", "It is ten."),
        ("It is <think>not</think> in front.", "It is in front."),
        ("It is ten. <think>More? No.</think>Anything else?", "It is ten. Anything else?"),
        ("It is ten.<think>More?</think>Anything else?", "It is ten. Anything else?"),
        ("It is ten. <think>and so on", "It is ten. "),
        ("<THINKING>x</THINKING> It is ten.", "It is ten."),
        ('<thinking kind="deep">x</thinking>It is ten.', "It is ten."),
        ("<reasoning>x</think>It is ten.", "It is ten."),
        ("<seed:think>x</seed:think>It is ten.", "It is ten."),
        ("[THINK]x[/THINK]It is ten.", "It is ten."),
        ("◁think▷x◁/think▷It is ten.", "It is ten."),
        ("<|START_THINKING|>x<|END_THINKING|><|START_RESPONSE|>It is ten.<|END_RESPONSE|>", "It is ten."),
        ("<|begin_of_thought|>x<|end_of_thought|>It is ten.", "It is ten."),
        ("<|channel>thought\nx<channel|>It is ten.<turn|>", "It is ten."),
        ("<think>a<think>b</think>c</think>It is ten.", "It is ten."),
        ("<think>x</think><answer>It is ten.</answer>", "It is ten."),
        ("I should look. At the clock.</think>\n\nIt is ten.", "It is ten."),
        ("It is ten.<think>a</think> Or so. More thought.</think>Bye.", "It is ten. Bye."),
        ("Okay, the user wants the time.</think>It is ten.", "It is ten."),
        (
            "<|channel|>analysis<|message|>Four.<|end|><|start|>assistant<|channel|>final<|message|>"
            "It is four.",
            "It is four.",
        ),
        ("We add.<|end|><|start|>assistant<|channel|>final<|message|>It is four.<|return|>", "It is four."),
        (
            "<|channel|>commentary<|message|>Let me see.<|end|><|start|>assistant<|channel|>final<|message|>"
            "Four.",
            "Let me see. Four.",
        ),
        ("analysisThey add. We do.assistantfinalIt is four.", "It is four."),
    ],
)  # fmt: skip
def test_thoughts_in_any_dress_are_not_spoken(text: str, spoken: str) -> None:
    assert every_way(text) == (spoken, [])


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("How can I help?<|im_end|>", "How can I help?"),
        ("It is four.</s> <|eot_id|> <end_of_turn> [/INST] <|endoftext|> <|im_start|>assistant", "It is four. "),
        ("It is four.<｜end▁of▁sentence｜>", "It is four."),
        ("<s>It is four.<pad><eos>", "It is four."),
        ("First.</s>Second.", "First. Second."),
        ("It is four.<|im_e", "It is four."),
        ("It is four.</s", "It is four."),
        ("<|im_start|>assistant\nIt is four.<|im_end|>", "It is four."),
        ("<|start_header_id|>assistant<|end_header_id|>\n\nIt is four.", "It is four."),
        ("<start_of_turn>model\nIt is four.", "It is four."),
        ("<|assistant|>It is four.<|end|>", "It is four."),
        ("It is four.<|im_end|>\n<|im_start|>user\nAnd now?<|im_end|>\n<|im_start|>assistant\nFive.", "It is four.\n"),
        (
            "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>It is four.<|END_OF_TURN_TOKEN|>"
            "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>And now?",
            "It is four.",
        ),
        ("[INST] <<SYS>>Be brief.<</SYS>> And now?", ""),
        ("<<SYS>>Be brief.<</SYS>>It is four.", "It is four."),
        ("It is four <eos>", "It is four "),
        ("It is four <|im_end|>\n", "It is four "),
        ("It is four. [INST] And now? [/INST] Five.", "It is four. "),
        ("It is four.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnd now?", "It is four."),
    ],
)
def test_tokens_of_a_template_are_not_spoken_nor_the_turns_of_others(text: str, spoken: str) -> None:
    assert every_way(text) == (spoken, [])


@pytest.mark.parametrize(
    ("text", "spoken", "calls"),
    [
        (f"<tool_call>\n{CALL}\n</tool_call>", "", [PARIS]),
        (
            f"Let me look. <tool_call>{CALL}</tool_call><tool_call>{CALL}</tool_call>\n",
            "Let me look. ", [PARIS] * 2,
        ),
        (f"<tool_call>{CALL}", "", [PARIS]),
        ('<tool_call>{"name": "weather", "arguments": {"city": "Par', "", []),
        (f"{CALL} ", "", [PARIS]),
        (f"[{CALL}, {CALL}]", "", [PARIS] * 2),
        ('{"name": "weather", "parameters": {"city": "Paris"}}', "", [PARIS]),
        ('{"name": "weather", "arguments": {"city": "Pa', "", []),
        ('{"name": "weather", "arguments": "nowhere"}', "", []),
        ('{"name": "weather", "arguments": "{\\"city\\": \\"Paris\\"}"}', "", [PARIS]),
        ('{"type": "function", "function": {"name": "weather", "arguments": {"city": "Paris"}}}', "", [PARIS]),
        ('{"tool_calls": [{"function": {"name": "opening_hours", "arguments": "{}"}}]}', "", [("opening_hours", {})]),
        ('{"action": "weather", "action_input": {"city": "Paris"}}', "", [PARIS]),
        ('{"weather": {"city": "Paris"}}', "", [PARIS]),
        ('{"name": "opening_hours"}', "", [("opening_hours", {})]),
        (f"There: ```json\n{CALL}\n```\n", "There: ", [PARIS]),
        (f"```xml\n<tool_call>{CALL}</tool_call>\n```", "", [PARIS]),
        ('<function=weather>{"city": "Paris"}</function>', "", [PARIS]),
        ("<tool_call><function=weather><parameter=city>\nParis\n</parameter></function></tool_call>", "", [PARIS]),
        (
            '<function_calls><invoke name="weather"><parameter name="city">Paris</parameter></invoke>'
            '</function_calls>',
            "", [PARIS],
        ),
        ("<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n</tool_call>", "", [PARIS]),
        (f"[TOOL_CALLS][{CALL}]", "", [PARIS]),
        ('[TOOL_CALLS]weather[ARGS]{"city": "Paris"}</s>', "", [PARIS]),
        (f"<|python_tag|>{CALL}<|eom_id|>", "", [PARIS]),
        (f"<|tool_call|>[{CALL}]", "", [PARIS]),
        ("<|tool_call_start|>[weather(city='Paris')]<|tool_call_end|>", "", [PARIS]),
        ('[weather(city="Paris")]', "", [PARIS]),
        (
            '<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>'
            '{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>',
            "", [PARIS],
        ),
        (
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>'
            'weather\n```json\n{"city": "Paris"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
            "", [PARIS],
        ),
        (
            '<|channel|>commentary to=functions.weather <|constrain|>json<|message|>'
            '{"city": "Paris"}<|call|>',
            "", [PARIS],
        ),
        (
            '<|start|>assistant to=functions.weather<|channel|>commentary json<|message|>'
            '{"city": "Paris"}<|call|>',
            "", [PARIS],
        ),
        (f'<tool_call>{CALL}</tool_call>\n<tool_response>{{"sunny": 1}}</tool_response>', "", [PARIS]),
        ('{"name": "book", "arguments": {}}', "", [("book", {})]),
        (f"<tool_call>{CALL}</tool_call><|im_end|>\n<|im_start|>user\nNo!", "", [PARIS]),
        ('[TOOL_CALLS]weather[CALL_ID]abc123[ARGS]{"city": "Paris"}', "", [PARIS]),
        ('<tool_call>{"name": "weather, "arguments": {}}</tool_call>It rains.', "It rains.", []),
        (
            '<tool_call>{"name": "weather", "arguments": {"city": "<function=charge></function>"}}</tool_call>',
            "", [("weather", {"city": "<function=charge></function>"})],
        ),
    ],
)  # fmt: skip
def test_calls_that_are_written_as_text_are_found_if_whole_and_never_spoken(
    text: str, spoken: str, calls: list[tuple[str, dict[str, object]]]
) -> None:
    assert every_way(text) == (spoken, calls)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        (f"Plan: <tool_call>{CHARGE}</tool_call> wait, no.</think>I will not charge you.", "I will not charge you."),
        (f"<tool_call>{CHARGE}</tool_call></think>", ""),
        (f"<tool_call>{CHARGE}</tool_call><think>They did not agree.</think>", ""),
        (f"For example, {CHARGE} would charge you.", "For example, would charge you."),
        (f"For example: {CHARGE}", "For example: "),
        (f"{CHARGE} would charge you.", "would charge you."),
        (f'You write "<tool_call>{CHARGE}</tool_call>" to charge.', 'You write "" to charge.'),
        (f'You write "<tool_call>{CHARGE}</tool_call>"', 'You write ""'),
        (f"You write `<tool_call>{CHARGE}</tool_call>`.", "You write ``."),
        (f"<tool_call>{CHARGE}</tool_call> I will not do that.", "I will not do that."),
        (f"<tool_call>{CHARGE} wait, no.</tool_call>", ""),
        (f"<tool_call>I would not write {CHARGE}</tool_call>", ""),
        (f"<tool_call>{CHARGE} wait, no.", ""),
        (f"```json\n{CHARGE}\n```\nThat would charge you.", "That would charge you."),
        (f"[TOOL_CALLS][{CHARGE}] Or rather not.", ""),
        ("No. [charge(amount='9')]", "No. "),
    ],
)
def test_a_call_that_is_only_mentioned_or_taken_back_is_neither_spoken_nor_run(text: str, spoken: str) -> None:
    assert every_way(text) == (spoken, [])


@pytest.mark.parametrize(
    "text",
    [
        '{"tool": "weather", "city": "Paris"}',
        '{"name": "opening_hours", "day": "Monday"}',
        '<tool_call>{"name": "charge", "amount": "9"}</tool_call>',
        '[TOOL_CALLS][{"name": "charge", "amount": "9"}]',
    ],
)
def test_a_tool_is_not_called_with_arguments_that_nobody_sent(text: str) -> None:
    words, calls = every_way(text)
    assert words == ""
    assert not [name for name, _ in calls if name in TOOLS]


def test_a_model_that_was_seen_to_think_first_is_waited_for() -> None:
    cleaner = AnswerCleaner(withholds=True)
    assert cleaner.feed("I look. At the clock. ") == []
    assert cleaner.feed("</think>It is ") == ["It is "]
    assert cleaner.feed("ten.") == ["ten."]
    assert cleaner.thought_before


@pytest.mark.parametrize(
    ("text", "spoken"), [("It is ten.", "It is ten."), ("<think>x</think>It is ten.", "It is ten.")]
)
def test_a_model_that_is_waited_for_in_vain_loses_no_word(text: str, spoken: str) -> None:
    assert cleaned([text], withholds=True) == (spoken, [])


def test_a_whole_thought_is_no_reason_to_wait() -> None:
    cleaner = AnswerCleaner(withholds=True)
    assert cleaner.feed("<think>x</think>It is ten.") == ["It is ten."]
    assert not cleaner.thought_before


def test_an_emoji_in_two_chunks_is_whole_and_half_of_one_is_left_out() -> None:
    assert every_way("Good \ud83d\ude00 morning.") == ("Good 😀 morning.", [])
    assert every_way("Good morning\ud83d.\0") == ("Good morning.", [])


PIECES = (
    "Hello. ", "It is four", "<", "think", ">", "</think>", "<think>", "[THINK]", "[/THINK]", "<|im_end|>", "a",
    "<|im_start|>", "user\n", "assistant", "<|channel|>", "analysis", "final", "<|message|>", "<|end|>", "<tool_call>",
    "</tool_call>", CALL, '{"name": ', "weather", "[", "]", "{", "}", "(", "```json\n", "```", '"', "\\", "\ud83d",
    "\ude00", "\0", "\x1b[", "31m", " ", "\n", "\r", "The user", "Okay, ", "<|", "|>", "`", "[TOOL_CALLS]", "</s>",
    "◁", "````", "<tool_response>", "<|start|>", "<seed:think>", "```thinking\n", "<s>", "<eos>",
    "< think >", "<plan>", "<<SYS>>", "<</SYS>>", "<tool_result>", CHARGE, "[weather(city='x')]", "no", "<|", "</",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.integers(0, 2**20))
@example("<think>\\", 0)
@example('{"name": "\\', 0)
def test_any_answer_is_the_same_however_it_is_cut_and_can_always_be_sent(text: str, seed: int) -> None:
    whole = cleaned([text])
    assert cleaned(cut(text, 0)) == whole
    assert cleaned(cut(text, seed)) == whole
    whole[0].encode()


@given(
    st.sampled_from([("<think>", "</think>"), ("<|channel|>analysis<|message|>", "<|end|>"), ("[THINK]", "[/THINK]")]),
    st.text(st.characters(codec="utf-8", exclude_characters="<[◁\x1b"), max_size=30),
    st.integers(0, 2**20),
)
def test_nothing_between_markers_leaks(markers: tuple[str, str], thought: str, seed: int) -> None:
    text = f"Yes. {markers[0]}{thought}{markers[1]}No."
    assert cleaned(cut(text, seed)) == ("Yes. No.", [])


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        "{",
        "[{",
        "`",
        '{"name":',
        '{"name":1}',
        "<|",
        "x <think>",
        "</think>",
        '"<think>',
        "<tool_call>{",
        "\r",
        "x <s> y ",
        "x <s>",
        "<<",
    ],
)
def test_the_work_grows_with_the_text_and_not_with_its_square(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in steps, not in seconds."""
    steps = 0
    step = AnswerCleaner._step

    def counted(self: AnswerCleaner, text: str, at: int, *, final: bool) -> int | None:
        nonlocal steps
        steps += 1
        return step(self, text, at, final=final)

    monkeypatch.setattr(AnswerCleaner, "_step", counted)
    cleaned([unit * 2000])
    assert steps <= 2 * len(unit) * 2000 + 10
