"""Chunk boundaries in Markdown, code, tables, prose and logs."""

import re
from itertools import count, islice, pairwise
from textwrap import wrap

from cognition.documents.chunking import Chunk, split

SENTENCES = [
    f"Sentence number {number} says something about the river and its bridges." for number in range(80)
]


def cut(text: str, limit: int = 600) -> list[Chunk]:
    return list(split([text], len, limit))


def fresh(found: list[Chunk], text: str) -> list[str]:
    """Return the text of each chunk without its overlap with the previous one."""
    ends = [0, *(chunk.chars[1] for chunk in found)]
    return [text[begin:end] for begin, end in pairwise(ends)]


def test_sections_begin_chunks_and_name_them() -> None:
    body = " ".join(SENTENCES[:8])
    text = f"# Report\n\n{body}\n\n## Bridges\n\n{body}\n\n### Old\n\n{body}\n\n## Birds\n\n{body}\n"
    found = cut(text, 1_000)
    starts = [part.split("\n", 1)[0] for part in fresh(found, text)]
    assert starts == ["# Report", "## Bridges", "### Old", "## Birds"]
    assert [chunk.headings for chunk in found] == [
        ("Report",),
        ("Report", "Bridges"),
        ("Report", "Bridges", "Old"),
        ("Report", "Birds"),
    ]


def test_small_sections_share_a_chunk() -> None:
    text = "".join(f"## Topic {number}\n\nA line.\n\n" for number in range(60))
    found = cut(text)
    assert len(found) < 8
    assert all(part.startswith("## Topic") for part in fresh(found, text))
    assert found[0].headings == ("Topic 0",)


def test_a_code_fence_stays_whole_where_it_fits() -> None:
    code = "```python\n" + "".join(f"x{number} = {number}\n\n" for number in range(20)) + "```\n"
    text = "\n".join([*SENTENCES[:3], "", code, *SENTENCES[3:6], "", code, *SENTENCES[6:]])
    assert all(part.count("```") % 2 == 0 for part in fresh(cut(text), text))


def test_nothing_in_a_fence_is_a_heading() -> None:
    text = "# Guide\n\n````md\n# no\n```\n## nor this\n```\n````\n\n" + " ".join(SENTENCES[:20])
    assert {chunk.headings for chunk in cut(text)} == {("Guide",)}


def test_comments_of_code_are_no_headings_and_functions_stay_whole() -> None:
    function = "# Adds one.\ndef add_{0}(x):\n    # carefully\n    y = x + 1\n\n    return y\n\n\n"
    text = "".join(function.format(number) for number in range(60))
    found = cut(text)
    assert {chunk.headings for chunk in found} == {()}
    assert all(part.startswith("# Adds one.") for part in fresh(found, text))


def test_a_table_is_cut_between_its_rows() -> None:
    text = "| name | value |\n|---|---|\n" + "".join(f"| n{i} | {i * 37} |\n" for i in range(200))
    assert all(part.startswith("|") and part.endswith("|\n") for part in fresh(cut(text), text))


def test_a_log_is_cut_between_its_lines() -> None:
    text = "".join(f"2026-01-01 00:00:{i % 60:02d} INFO a. b. request {i} done\n" for i in range(300))
    assert all(part.startswith("2026") and part.endswith("done\n") for part in fresh(cut(text), text))


def test_wrapped_prose_is_cut_between_sentences() -> None:
    text = "\n".join(wrap(" ".join(SENTENCES), 72))
    assert all(part.startswith("Sentence") for part in fresh(cut(text), text))


def test_chinese_is_cut_between_sentences() -> None:
    text = "他们赋有理性和良心并应以兄弟关系的精神互相对待。" * 100
    assert all(part.endswith("。") for part in fresh(cut(text), text))


def test_what_has_no_spaces_is_cut_after_a_comma() -> None:
    text = "[" + ",".join(f'{{"id":{number}}}' for number in range(400)) + "]"
    assert all(part.endswith((",", "}", "]")) for part in fresh(cut(text), text))


def test_words_and_what_is_shown_as_one_character_stay_whole() -> None:
    text = "réservation " * 300
    assert all(part.startswith("réservation") for part in fresh(cut(text), text))
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert all(len(part) % len(family) == 0 for part in fresh(cut(family * 500), family * 500))
    accents = "e\u0301" * 1_000
    assert all(part.startswith("e") for part in fresh(cut(accents), accents))


def test_the_overlap_begins_with_a_sentence() -> None:
    text = " ".join(SENTENCES)
    assert all(re.match("Sentence number", chunk.text) for chunk in cut(text))


def test_p61_a_text_without_end_streams() -> None:
    endless = (f"Line {number} of a log that never ends.\n" for number in count())
    found = list(islice(split(endless, len, 600), 2_000))
    assert found[-1].index == 1_999
    assert found[-1].text.splitlines()[0] == f"Line {found[-1].lines[0] - 1} of a log that never ends."
