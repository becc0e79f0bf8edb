"""Load to come: which jobs count, and how many ticks each minute holds."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from onebeat.history import END_OF_TIME, JobState
from onebeat.schedules.cron import cron
from onebeat.schedules.dues import due_between
from onebeat.schedules.every import every
from onebeat.web.views.load import Load, busiest, load_of
from onebeat.web.views.local_days import days_from, instant_of, minute_of
from onebeat.web.views.plan import plan_of
from tests.rows import NOON, job

BERLIN = ZoneInfo("Europe/Berlin")
MIDNIGHT = datetime(2027, 3, 2, tzinfo=UTC)


def load(*jobs: JobState, since: datetime = MIDNIGHT, days: int = 1, most: int = 1_000_000) -> Load:
    span = days_from(since.date(), days, UTC)
    return load_of(plan_of(jobs, None, since), span, since, most=most)


def shown(*jobs: JobState) -> dict[str, int]:
    return {f"{instant_of(at):%d %H:%M}": count for at, count in sorted(load(*jobs).ticks.items())}


def test_jobs_of_one_minute_add_up() -> None:
    nine, both = repr(cron("0 9 * * *")), repr(cron("0 9,17 * * *"))
    assert shown(job("a", nine), job("b", nine), job("c", both)) == {"02 09:00": 3, "02 17:00": 1}


def test_a_job_that_is_due_each_second_has_86400_ticks_a_day_whatever_its_kind() -> None:
    for schedule in (every(seconds=1), cron("* * * * * *", seconds=True)):
        found = load(job("a", repr(schedule)))
        assert sum(found.ticks.values()) == 86_400
        assert set(found.ticks.values()) == {60}
        assert set(found.jobs.values()) == {1}


def test_multiples_are_those_that_come_due() -> None:
    """S-EVERY: whatever the period and wherever counting begins."""
    for seconds in (1, 7, 45, 60, 61, 90, 3600, 100_000):
        schedule, since = every(seconds=seconds), MIDNIGHT + timedelta(hours=3, minutes=17)
        span = days_from(since.date(), 3, UTC)
        found = load_of(plan_of([job("a", repr(schedule))], None, since), span, since).ticks
        dues = list(due_between(schedule, since - timedelta(microseconds=1), MIDNIGHT + timedelta(days=3)))
        dues = [due for due in dues if due < MIDNIGHT + timedelta(days=3)]
        assert sum(found.values()) == len(dues)
        assert all(found[minute_of(due)] for due in dues)


def test_what_has_passed_today_is_not_to_come() -> None:
    since = MIDNIGHT + timedelta(hours=9)
    assert sum(load(job("a", repr(cron("0 8,9,10 * * *"))), since=since).ticks.values()) == 2


def test_a_pause_that_ends_leaves_out_what_comes_before() -> None:
    """F-PAUSE: to the microsecond."""
    until = MIDNIGHT + timedelta(hours=9, seconds=30)
    for schedule in (every(seconds=10), cron("*/10 * * * * *", seconds=True)):
        found = load(job("a", repr(schedule), paused_until=until))
        assert found.ticks[minute_of(until)] == 3
        assert min(found.ticks) == minute_of(until)


def test_what_does_not_count_is_named() -> None:
    jobs = [
        job("paused", paused_until=END_OF_TIME),
        job("foreign", "Moon(phase=3)"),
        job("unknown", None),
        job("gone"),
        job("counts"),
    ]
    plan = plan_of(jobs, {one.job_id for one in jobs} - {"gone"}, NOON)
    assert (plan.paused, plan.unread, plan.unserved) == (("paused",), ("foreign", "unknown"), ("gone",))
    assert (plan.jobs, plan.served) == (1, True)
    assert (plan_of(jobs, None, NOON).jobs, plan_of(jobs, None, NOON).served) == (2, False)


def test_days_on_which_clocks_change_have_what_their_wall_clock_has() -> None:
    """S-DST: 23 hours of minutes, or 25."""
    for day, expected in ((date(2027, 3, 28), 23 * 60), (date(2027, 10, 31), 25 * 60)):
        [span] = days_from(day, 1, BERLIN)
        since = datetime.fromtimestamp(span.start * 60, UTC)
        jobs = [job("a", repr(cron("* * * * *", tz="Europe/Berlin")))]
        assert sum(load_of(plan_of(jobs, None, since), [span], since).ticks.values()) == expected


def test_the_bound_cuts_all_schedules_at_the_same_time() -> None:
    """Nothing beyond is told of some and not of others."""
    dense, daily = (
        job("dense", repr(cron("*/6 * * * * *", seconds=True))),
        job("daily", repr(cron("59 23 * * *"))),
    )
    found = load(dense, daily, days=5, most=3 * 14_400)
    assert not found.whole
    assert found.until == found.days[1].end
    assert max(found.ticks) < found.until
    assert sum(found.ticks.values()) == 2 * 14_400 + 2
    assert load(dense, daily, days=2, most=3 * 14_400).whole


def test_the_bound_cuts_within_the_first_day_too() -> None:
    jobs = [job(str(number), f"cron('{number} * * * * *', seconds=True)") for number in range(10)]
    found = load(*jobs, most=6_000)
    assert found.until - found.since in range(8 * 60, 10 * 60 + 1)


def test_ten_thousand_jobs_of_few_schedules_cost_few_steps() -> None:
    found = load(
        *(job(f"job-{number}", repr(cron(f"{number % 60} * * * *"))) for number in range(10_000)), most=1_500
    )
    assert found.whole
    assert sum(found.ticks.values()) == 240_000


def test_the_busiest_minutes_are_named_with_their_jobs() -> None:
    jobs = [job(f"nightly-{number:02}", repr(cron("0 3 * * *"))) for number in range(12)]
    found = load(*jobs, job("steady", repr(every(seconds=30))))
    first, second, *_ = busiest(found, found.days[0])
    assert (first.minute, first.ticks, first.jobs) == (minute_of(MIDNIGHT + timedelta(hours=3)), 14, 13)
    assert first.some == tuple(f"nightly-{number:02}" for number in range(5))
    assert first.stampede
    assert not second.stampede
    assert second.some == ("steady",)


def test_an_even_load_is_no_stampede_however_heavy() -> None:
    found = load(*(job(f"job-{number}", repr(every(minutes=1))) for number in range(500)))
    assert [minute.stampede for minute in busiest(found, found.days[0])] == [False] * 5


def test_of_no_jobs_there_is_no_load() -> None:
    found = load()
    assert found.whole
    assert not found.ticks
    assert busiest(found, found.days[0]) == ()
