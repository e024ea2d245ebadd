"""Properties of users' folder names: unique on any file system, and plain."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cognition.storage.disk.safe_names import LONGEST, RESERVED, folder_name

users = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
look_alikes = st.text("aA_-5f. é/", min_size=1).filter(str.strip)


@given(users | look_alikes, users | look_alikes)
@example("ada", "Ada")
@example("a_b", "a_5fb")
@example("con", "_63on")
@example("é", "e\u0301")
@example("x" * (LONGEST + 1), "x" * (LONGEST + 2))
def test_p47_no_two_users_share_a_folder_on_a_file_system_that_ignores_case(one: str, other: str) -> None:
    names = [folder_name(user).casefold() for user in (one, other)]
    assert (names[0] == names[1]) is (one == other)


@given(users | look_alikes | st.sampled_from(sorted(RESERVED)))
@example("../../etc/passwd")
@example("C:\\users\0")
@example("é" * 300)
def test_p79_a_users_folder_is_a_plain_name(user: str) -> None:
    name = folder_name(user)
    assert re.fullmatch(r"[a-z0-9_-]{1,120}", name)
    assert name not in RESERVED


@pytest.mark.parametrize("user", ["", "  ", "\n", None, "\ud800"])
def test_p47_an_invalid_user_has_no_folder(user: str) -> None:
    with pytest.raises(ValueError, match="Invalid user"):
        folder_name(user)
