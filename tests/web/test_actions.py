"""What people ask of the fleet by forms, and whose forms are refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import httpx
import pytest

from onebeat.history import END_OF_TIME
from onebeat.model import Tick
from onebeat.stores.memory import MemoryStore
from onebeat.testing import FakeClock
from onebeat.web.forms import LARGEST
from onebeat.web.seals import Seals
from tests.rows import NOON
from tests.web.fleet_rows import APP, HOSTILE, join, run, visitor
from tests.web.test_auth import FORM, TOKEN, form_secret, sign_in

JOB = {"job": HOSTILE, "reason": "a bad day", "back": "/job?id=x"}


@pytest.fixture
async def store() -> MemoryStore:
    made = MemoryStore()
    await join(made, "a", {HOSTILE: "every(60)"})
    return made


class Person:
    """Signed in as *name*, with a form at hand."""

    def __init__(self, client: httpx.AsyncClient, csrf: str) -> None:
        self.client = client
        self.csrf = csrf

    @classmethod
    async def signed_in(cls, client: httpx.AsyncClient, name: str = "ada") -> Person:
        await sign_in(client, name=name)
        return cls(client, form_secret((await client.get("/")).text))

    async def send(self, action: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(f"/act/{action}", data={"csrf": self.csrf, **fields}, headers=named)


async def audit(store: MemoryStore) -> list[tuple[str, str, str, str]]:
    rows = (await store.audit(app=APP, limit=10)).rows
    return [(row.action, row.target, row.by, row.reason) for row in rows]


async def test_a_job_is_paused_and_resumed(store: MemoryStore) -> None:
    """F-PAUSE: with who and why in the audit."""
    async with visitor(store, token=TOKEN) as client:
        ada = await Person.signed_in(client)
        answer = await ada.send("pause", JOB)
        assert (answer.status_code, answer.headers["location"]) == (303, "/job?id=x&said=paused")
        state = await store.job(HOSTILE, app=APP)
        assert state is not None
        assert state.paused_until == END_OF_TIME
        assert (await ada.send("resume", JOB)).headers["location"].endswith("said=resumed")
        assert (await ada.send("resume", JOB)).headers["location"].endswith("said=not-paused")
    target = f"job {HOSTILE}"
    assert await audit(store) == [
        ("resume", target, "ada", "a bad day"),
        ("resume", target, "ada", "a bad day"),
        ("pause", target, "ada", "a bad day"),
    ]


@pytest.mark.parametrize(
    ("fields", "target"), [({"prefix": "mail."}, "jobs mail.…"), ({"all": "yes"}, "the whole app")]
)
async def test_a_prefix_and_the_whole_app_are_paused_for_a_while(
    store: MemoryStore, fields: dict[str, str], target: str
) -> None:
    async with visitor(store, token=TOKEN) as client:
        ada = await Person.signed_in(client)
        assert (await ada.send("pause", {**fields, "reason": "x", "until": "2h"})).status_code == 303
    [row] = (await store.audit(app=APP, limit=2)).rows
    assert row.target == target
    assert row.until is not None
    assert timedelta(minutes=119) < row.until - await store.store_time() <= timedelta(hours=2)


async def test_a_job_is_triggered_and_the_trigger_withdrawn(store: MemoryStore) -> None:
    async with visitor(store, token=TOKEN) as client:
        ada = await Person.signed_in(client)
        answer = await ada.send("trigger", {**JOB, "force": "yes"})
        assert answer.headers["location"] == "/job?id=x&said=triggered"
        assert (await ada.send("cancel", JOB)).headers["location"].endswith("said=cancelling")
        assert (await ada.send("cancel", JOB)).headers["location"].endswith("said=nothing-ran")


async def test_the_run_of_one_tick_is_cancelled() -> None:
    clock = FakeClock(NOON)
    store = MemoryStore(clock=clock)
    await join(store, "a", {"x": "every(60)"})
    tick = Tick("x", NOON)
    await run(store, "a", tick, None)
    async with visitor(store, token=TOKEN) as client:
        ada = await Person.signed_in(client)
        page = (await client.get("/tick", params={"id": "x", "at": NOON.isoformat()})).text
        assert "Cancel this run" in page
        fields = {"job": "x", "reason": "wrong input", "at": NOON.isoformat()}
        assert (await ada.send("cancel", fields)).headers["location"] == "/?said=cancelling"
    record = await store.tick(tick, app=APP)
    assert record is not None
    assert record.wanted == "cancel"


@pytest.mark.parametrize(
    ("action", "fields", "field"),
    [
        ("pause", {"reason": "x"}, "target"),
        ("pause", {"job": "x", "all": "yes", "reason": "x"}, "target"),
        ("pause", {"prefix": "", "reason": "x"}, "prefix"),
        ("pause", {"job": "", "reason": "x"}, "job"),
        ("pause", {"job": "a\r\nb", "reason": "x"}, "job"),
        ("pause", {"job": "x", "reason": " "}, "reason"),
        ("pause", {"job": "x", "reason": "x", "until": "soon"}, "until"),
        ("pause", {"job": "x", "reason": "x", "until": "2027-01-01T09:00"}, "until"),
        ("pause", {"job": "x", "reason": "x", "until": "2020-01-01T09:00Z"}, "until"),
        ("trigger", {"job": "nobody has it", "reason": "x"}, "job_id"),
        ("cancel", {"job": "x", "reason": "x", "at": "then"}, "at"),
    ],
)
async def test_what_makes_no_sense_is_refused_by_its_field(
    store: MemoryStore, action: str, fields: dict[str, str], field: str
) -> None:
    async with visitor(store, token=TOKEN) as client:
        ada = await Person.signed_in(client)
        answer = await ada.send(action, fields)
    assert answer.status_code == 400
    assert f"<bdi>{field}: expected" in answer.text
    assert await audit(store) == []


async def refused(store: MemoryStore, answer: httpx.Response, status: int = 403) -> None:
    assert answer.status_code == status
    assert await audit(store) == []


async def test_a_form_without_its_secret_is_refused(store: MemoryStore) -> None:
    async with visitor(store, token=TOKEN) as client:
        ada = await Person.signed_in(client)
        for wrong in ("", "0" * 64, ada.csrf[:-1], ada.csrf.upper(), "\u00e4"):
            await refused(store, await ada.send("pause", {**JOB, "csrf": wrong}))
        assert "nothing was done" in (await ada.send("pause", {**JOB, "csrf": ""})).text


async def test_the_form_of_another_person_or_browser_is_refused(store: MemoryStore) -> None:
    async with visitor(store, token=TOKEN) as one, visitor(store, token=TOKEN) as other:
        ada, eve = await Person.signed_in(one), await Person.signed_in(other, "eve")
        assert ada.csrf != eve.csrf
        await refused(store, await ada.send("pause", {**JOB, "csrf": eve.csrf}))
        await sign_in(one, name="eve")  # the same browser, another person
        await refused(store, await ada.send("pause", JOB))
        one.cookies.delete("onebeat-browser")
        await refused(store, await ada.send("pause", JOB))


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://dashboard.evil.example"},
        {"Origin": "http://dashboard:81"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "cross-site", "Origin": "http://dashboard"},
    ],
)  # fmt: skip
async def test_a_form_from_another_site_is_refused(store: MemoryStore, headers: dict[str, str]) -> None:
    async with visitor(store, token=TOKEN) as client:
        ada = await Person.signed_in(client)
        await refused(store, await ada.send("pause", JOB, **headers))
        answer = await client.post("/login", data={"name": "eve", "token": TOKEN}, headers=headers)
        assert (answer.status_code, answer.headers.get("set-cookie")) == (403, None)


@pytest.mark.parametrize("headers", [{"Origin": "http://dashboard"}, {"Sec-Fetch-Site": "same-origin"}])
async def test_a_form_of_its_own_pages_is_taken(store: MemoryStore, headers: dict[str, str]) -> None:
    async with visitor(store, token=TOKEN) as client:
        ada = await Person.signed_in(client)
        assert (await ada.send("pause", JOB, **headers)).status_code == 303


async def test_who_has_the_token_acts_without_a_form(store: MemoryStore) -> None:
    async with visitor(store, token=TOKEN) as client:
        for given, status in (
            (f"Bearer {TOKEN}", 303),
            ("Bearer x", 403),
            (f"Basic {TOKEN}", 403),
            ("Bearer", 403),
        ):
            answer = await client.post("/act/pause", data=JOB, headers={"Authorization": given})
            assert answer.status_code == status
    assert await audit(store) == [("pause", f"job {HOSTILE}", "bearer of the token", "a bad day")]


async def test_forms_of_a_host_that_knows_its_users_are_protected_in_every_worker(store: MemoryStore) -> None:
    settings: dict[str, Any] = {"user": lambda request: request.headers.get("x-user")}
    async with visitor(store, **settings) as one, visitor(store, **settings) as other:
        page = (await one.get("/", headers={"x-user": "ada"})).text
        other.cookies = one.cookies
        form = {**JOB, "csrf": form_secret(page)}
        await refused(store, await other.post("/act/pause", data=form, headers={"x-user": "eve"}))
        assert (await other.post("/act/pause", data=form, headers={"x-user": "ada"})).status_code == 303


async def test_a_stranger_makes_no_form_of_his_own(store: MemoryStore) -> None:
    """Without a token whoever knows how can seal a form; whose it is, the host says."""
    forged = Seals(None).csrf("mine", cast(str, None))
    async with visitor(store, user=lambda request: None) as client:
        client.cookies.set("onebeat-browser", "mine")
        await refused(store, await client.post("/act/pause", data={**JOB, "csrf": forged}))


@pytest.mark.parametrize("chunked", [True, False])
async def test_a_huge_body_is_refused_before_it_is_read_whole(store: MemoryStore, chunked: bool) -> None:
    async def endless() -> Any:
        for _ in range(1_000_000):
            sent.append(1)
            yield b"a" * 1_000

    sent: list[int] = []
    async with visitor(store, token=TOKEN) as client:
        await Person.signed_in(client)
        body = endless() if chunked else b"reason=" + b"a" * LARGEST
        await refused(store, await client.post("/act/pause", content=body, headers=FORM), 413)
    assert len(sent) <= LARGEST // 1_000 + 2


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"all": "yes"}', "application/json", 415),
        (b"all=yes", "text/plain", 415),
        (b"all=yes", "", 415),
        (b"\xff=yes", FORM["Content-Type"], 400),
        (b"all=%ff", FORM["Content-Type"], 400),
        (b"all=yes&all=no", FORM["Content-Type"], 400),
        (b"&".join(b"a%d=1" % number for number in range(21)), FORM["Content-Type"], 400),
    ],
)
async def test_what_is_no_form_is_refused(store: MemoryStore, body: bytes, kind: str, status: int) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": kind}
    async with visitor(store, token=TOKEN) as client:
        await refused(store, await client.post("/act/pause", content=body, headers=headers), status)


async def test_nothing_is_done_by_looking(store: MemoryStore) -> None:
    async with visitor(store, token=TOKEN) as client:
        ada = await Person.signed_in(client)
        fields = {**JOB, "csrf": ada.csrf, "_method": "POST"}
        override = {"X-HTTP-Method-Override": "POST"}
        await refused(store, await client.get("/act/pause", params=fields, headers=override), 405)
        await refused(store, await client.put("/act/pause", data=fields), 405)


async def test_a_read_only_dashboard_has_nothing_to_act_with(store: MemoryStore) -> None:
    async with visitor(store) as client:
        for path in ("/act/pause", "/act/resume", "/act/trigger", "/act/cancel", "/login", "/logout"):
            await refused(store, await client.post(path, data=JOB), 404)
        for path in ("/", "/fleet", "/audit"):
            assert 'method="post"' not in (await client.get(path)).text


async def test_a_hostile_id_stays_a_value_in_every_form(store: MemoryStore) -> None:
    async with visitor(store, token=TOKEN) as client:
        await Person.signed_in(client)
        page = (await client.get("/job", params={"id": HOSTILE})).text
    assert page.count('action="/act/') == 4
    assert "<script>alert" not in page
    assert 'onload="x' not in page
