"""Properties of dates: any text is parsed as a period or reported as an error, never ignored."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognition.dates import InvalidDate, read_period

DAY = timedelta(days=1)


def seconds(*when: int) -> float:
    return datetime(*when, tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]


@given(st.dates())
def test_a_day_covers_the_whole_day(day: date) -> None:
    period = read_period(day.isoformat(), f" {day.isoformat()} ")
    assert period.start == seconds(day.year, day.month, day.day)
    assert period.end == pytest.approx(period.start + 86_399.999, abs=1e-4)


@given(st.dates(max_value=date(9998, 12, 31)))
def test_a_month_and_a_year_end_where_the_next_one_begins(day: date) -> None:
    month = read_period(f"{day:%Y-%m}".zfill(7), f"{day:%Y-%m}".zfill(7))
    following = (day.replace(day=1) + 31 * DAY).replace(day=1)
    assert month.start == seconds(day.year, day.month, 1)
    assert month.end == pytest.approx(seconds(following.year, following.month, 1) - 0.001, abs=1e-4)
    year = read_period(f"{day.year:04}", f"{day.year:04}")
    assert year.start == seconds(day.year, 1, 1)
    assert year.end == pytest.approx(seconds(day.year + 1, 1, 1) - 0.001, abs=1e-4)


@given(st.datetimes(timezones=st.sampled_from([UTC, *(timezone(timedelta(hours=h)) for h in (-11, 2, 14))])))
def test_an_offset_is_honoured_and_a_time_is_one_instant(moment: datetime) -> None:
    period = read_period(moment.isoformat(), moment.isoformat())
    assert period.start == period.end == pytest.approx(moment.timestamp(), abs=1e-3)


@given(st.datetimes())
def test_without_a_zone_it_is_utc(moment: datetime) -> None:
    start = read_period(moment.isoformat(timespec="seconds"), "").start
    assert start == moment.replace(microsecond=0, tzinfo=UTC).timestamp()
    assert start == read_period(moment.isoformat(timespec="seconds") + "Z", "").start


@given(st.text())
def test_any_text_is_parsed_or_reported(text: str) -> None:
    try:
        period, message = read_period(text, ""), ""
    except InvalidDate as error:
        message = str(error)
    if message:
        assert message.startswith("Invalid start_date ")
        assert len(message) < 300
    else:
        assert (period.start is None) == (not text.strip())


@given(st.dates(), st.dates())
def test_a_start_after_the_end_is_an_error_that_names_both(first: date, second: date) -> None:
    if first <= second:
        period = read_period(first.isoformat(), second.isoformat())
        assert period.start is not None
        assert period.end is not None
        assert period.start < period.end
    else:
        with pytest.raises(InvalidDate, match=f"{first.isoformat()}.*{second.isoformat()}"):
            read_period(first.isoformat(), second.isoformat())


@pytest.mark.parametrize(
    "text", ["2023-02-29", "2024-13", "24", "yesterday", "2024-05-17T25:00", "0000", "17/05/2024"]
)
def test_an_invalid_date_is_reported(text: str) -> None:
    with pytest.raises(InvalidDate, match=f"Invalid end_date '{text}': expected 2024, 2024-05"):
        read_period("", text)


def test_the_edges_of_the_calendar() -> None:
    assert read_period("9999", "9999-12-31").end == seconds(9999, 12, 31, 23, 59, 59) + 0.999
    assert read_period("", "2024-02").end == seconds(2024, 2, 29, 23, 59, 59) + 0.999
    assert read_period("2024-W05", "2024-W05").end == seconds(2024, 2, 4, 23, 59, 59) + 0.999
    assert (read_period("", "").start, read_period("", "").end) == (None, None)
