"""What reaches a real server, and what is done about what does not."""

from __future__ import annotations

import gzip
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sentry_sdk
from sentry_sdk import Scope

from onebeat import Alarm, Alert, Healthchecks, InvalidJob, InvalidSetting, Sentry, Webhook, every
from onebeat.alerts.alert import Condition
from onebeat.alerts.outbox import Outbox, Undelivered
from onebeat.events import AlertUndelivered
from tests.alerts.given import Site, site, until_sent
from tests.engine.given import Given

ALERT = Alert(
    app="shop",
    job_id="report",
    condition=Condition.SILENT,
    sounding=True,
    text="report has not succeeded",
    key="silent:300:report",
    at=datetime(2027, 3, 1, 3, tzinfo=UTC),
)


@pytest.fixture
def web() -> Iterator[Site]:
    with site() as found:
        yield found


def _sent(hook: Webhook, pauses: tuple[float, ...] = (0, 0)) -> list[str]:
    """Why the alert was not delivered; nothing when it was."""
    failures: list[str] = []
    outbox = Outbox(hook.send, lambda _, error: failures.append(str(error)), pauses=pauses)
    outbox.put(ALERT)
    outbox._waiting.put(None)  # not close, which would give up trying
    until_sent()
    return failures


def test_a_webhook_gets_json_with_its_headers(web: Site) -> None:
    """F-SILENT: an alert as JSON."""
    assert _sent(Webhook(f"{web.url}/hook?room=1", headers={"Authorization": "Bearer x"})) == []
    (request,) = web.requests
    assert request.path == "/hook?room=1"
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Authorization"] == "Bearer x"
    assert json.loads(request.body) == {
        "app": "shop",
        "job_id": "report",
        "condition": "silent",
        "sounding": True,
        "text": "report has not succeeded",
        "key": "silent:300:report",
        "at": "2027-03-01T03:00:00+00:00",
    }


@pytest.mark.parametrize("answer", [500, 503, 429, 408])
def test_what_may_help_is_tried_again(web: Site, answer: int) -> None:
    """F-SILENT: retries with a pause between them, and then no more."""
    web.answers = [answer, answer]
    assert _sent(Webhook(web.url)) == []
    assert len(web.requests) == 3
    web.answers = [answer] * 9
    assert _sent(Webhook(web.url)) == [f"it answered {answer}"]
    assert len(web.requests) == 6


@pytest.mark.parametrize("answer", [400, 401, 404, 301, 302, 307, 308])
def test_what_does_not_help_is_not_tried_again_and_a_redirect_not_followed(web: Site, answer: int) -> None:
    """F-SILENT: a redirect would drop the body and carry the headers to somebody else."""
    web.answers = [answer]
    assert _sent(Webhook(web.url)) == [f"it answered {answer}"]
    assert len(web.requests) == 1


def test_nobody_there_is_tried_again() -> None:
    """F-SILENT: a connection refused is no end."""
    tries: list[Alert] = []
    with site() as found:
        hook = Webhook(found.url)

    def send(alert: Alert) -> None:
        tries.append(alert)
        hook.send(alert)

    failures: list[BaseException] = []
    outbox = Outbox(send, lambda _, error: failures.append(error), pauses=(0, 0))
    outbox.put(ALERT)
    outbox._waiting.put(None)
    until_sent()
    assert len(tries) == 3
    assert isinstance(failures[0], Undelivered)


def test_a_certificate_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    """F-SILENT: https is verified."""
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    subprocess.run([*words, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    with server, context.wrap_socket(server.socket, server_side=True) as server.socket:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        (failure,) = _sent(Webhook(f"https://localhost:{server.server_address[1]}"), pauses=())
        server.shutdown()
        thread.join()
    assert "CERTIFICATE_VERIFY_FAILED" in failure


def test_things_are_sent_in_order_and_a_stop_waits_a_moment_for_them() -> None:
    """F-SILENT: a stop does not lose what is on its way."""
    sent: list[int] = []
    outbox: Outbox[int] = Outbox(sent.append, lambda *_: None)
    for n in range(100):
        outbox.put(n)
    outbox.close(5)
    assert sent == list(range(100))
    outbox.put(100)
    outbox.close(5)
    assert sent[-1] == 100


def test_a_stop_gives_up_waiting_for_another_try() -> None:
    """X-STOP: a destination that is down does not hold the stop."""
    tries: list[str] = []
    failures: list[str] = []

    def refuse(thing: str) -> None:
        tries.append(thing)
        raise Undelivered("nobody there", again=True)

    outbox = Outbox(refuse, lambda thing, _: failures.append(thing), pauses=(3600,))
    outbox.put("alert")
    outbox.close(5)
    assert tries == failures == ["alert"]


async def test_an_alarm_reaches_a_webhook_and_a_plain_function(web: Site) -> None:
    """F-SILENT: from a failing job to the server, beside the runs."""
    given = Given()
    told: list[Alert] = []
    alarms = [Alarm("report", failures=2, to=Webhook(web.url)), Alarm("report", failures=2, to=told.append)]
    scheduler = given.scheduler(given.store, alarms=alarms)
    scheduler.add("report", every(60), _break)
    async with scheduler:
        await given.clock.advance(minutes=4)
    until_sent()
    assert len(web.requests) == 1
    assert [alert.as_json() for alert in told] == [json.loads(web.requests[0].body)]


async def _break() -> None:
    raise RuntimeError("broken")


async def test_healthchecks_hears_of_every_run_from_the_replica_that_runs_it(web: Site) -> None:
    """F-SILENT: start, success and fail, with the run's id; once for the fleet."""
    given = Given()
    runs: list[int] = []
    alarms = [Alarm("report", to=Healthchecks(f"{web.url}/ping/uuid/"))]

    async def body() -> None:
        runs.append(len(runs))
        if len(runs) == 2:
            raise RuntimeError("broken pipe")

    first, second = (given.scheduler(given.store, alarms=alarms) for _ in range(2))
    for scheduler in (first, second):
        scheduler.add("report", every(60), body)
        scheduler.add("other", every(60), _break)
    async with first, second:
        await given.clock.advance(seconds=150)
    until_sent()
    assert len(runs) == 2
    paths = sorted(request.path.partition("?")[0] for request in web.requests)
    assert paths == ["/ping/uuid", "/ping/uuid/fail", "/ping/uuid/start", "/ping/uuid/start"]
    rids = [request.path.partition("?rid=")[2] for request in web.requests]
    assert all(UUID(rid) for rid in rids)
    assert sorted(rids.count(rid) for rid in set(rids)) == [2, 2]
    (failed,) = [request for request in web.requests if "/fail" in request.path]
    assert failed.body == b"RuntimeError: broken pipe"


async def test_sentry_gets_check_ins_through_its_own_library(web: Site) -> None:
    """F-SILENT: in progress, then ok or error, of one check-in; the first creates the monitor."""
    dsn = web.url.replace("http://", "http://public@") + "/1"
    client = sentry_sdk.Client(dsn=dsn, default_integrations=False, auto_enabling_integrations=False)
    Scope.get_global_scope().set_client(client)
    given = Given()
    config = {"schedule": {"type": "interval", "value": 1, "unit": "minute"}}
    scheduler = given.scheduler(
        given.store, alarms=[Alarm("report", to=Sentry("nightly-report", monitor_config=config))]
    )
    scheduler.add("report", every(60), _break)
    try:
        async with scheduler:
            await given.clock.advance(seconds=61)
        until_sent()
        client.flush(5)
    finally:
        Scope.get_global_scope().set_client(None)
        client.close()
    check_ins = [found for request in web.requests for found in _check_ins(request.body, request.headers)]
    assert [found["status"] for found in check_ins] == ["in_progress", "error"]
    assert {found["monitor_slug"] for found in check_ins} == {"nightly-report"}
    assert len({found["check_in_id"] for found in check_ins}) == 1
    assert check_ins[0]["monitor_config"] == config
    assert check_ins[1]["duration"] >= 0


def _check_ins(body: bytes, headers: dict[str, str]) -> Iterator[dict[str, Any]]:
    text = gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body
    for line in text.splitlines():
        item = json.loads(line)
        if "monitor_slug" in item:
            yield item


async def test_a_monitor_that_is_not_reached_is_said(web: Site) -> None:
    """F-SILENT: no run is touched by a ping that fails; once until one has arrived again."""
    given = Given()
    runs: list[int] = []
    web.answers = [404, 404, 200, 200, 404]
    scheduler = given.scheduler(given.store, alarms=[Alarm("report", to=Healthchecks(web.url))])
    scheduler.add("report", every(60), lambda: runs.append(1))
    async with scheduler:
        await given.clock.advance(minutes=3)
    until_sent()
    assert runs == [1, 1, 1]
    undelivered = given.recorder.of(AlertUndelivered)
    assert [(event.text, str(event.error)) for event in undelivered] == [
        ("a run started", "it answered 404"),
        ("a run started", "it answered 404"),
    ]


def test_secrets_are_never_shown() -> None:
    """F-SILENT: neither in a repr nor in an error."""
    hook = Webhook("https://hooks.example.com/secret?secret", headers={"X-Key": "secret"})
    for shown in (
        repr(hook),
        repr(Healthchecks("https://hc.example.com/secret")),
        repr(Alarm("a", failures=1, to=hook)),
    ):
        assert "secret" not in shown
    for wrong in (
        "ftp://secret",
        "https://",
        "https://host/secret blank",
        "//secret",
        "https://[secret",
        "https://user:secret@host/",
        5,
    ):
        for make in (Webhook, Healthchecks):
            with pytest.raises(InvalidSetting) as caught:
                make(wrong)  # type: ignore[arg-type]
            assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"to": print},
        {"job_id": "a", "to": print},
        {"job_id": "a", "prefix": "b", "failures": 1, "to": print},
        {"failures": 1, "to": print},
        {"job_id": "a", "failures": 0, "to": print},
        {"job_id": "a", "failures": True, "to": print},
        {"job_id": "a", "silent_for": 0, "to": print},
        {"job_id": "a", "silent_for": "1h", "to": print},
        {"job_id": "a", "missed": 1, "to": print},
        {"job_id": "a", "failures": 1, "to": "https://hooks.example.com"},
        {"job_id": "a", "failures": 1, "to": Healthchecks("https://hc.example.com/x")},
        {"prefix": "a", "to": Healthchecks("https://hc.example.com/x")},
        {"prefix": 5, "failures": 1, "to": print},
    ],
    ids=repr,
)
def test_an_alarm_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    """F-SILENT: at construction."""
    with pytest.raises(InvalidSetting):
        Alarm(**wrong)


def test_an_id_or_a_header_that_cannot_be_is_refused() -> None:
    """F-SILENT: at construction."""
    with pytest.raises(InvalidJob):
        Alarm("", failures=1, to=print)
    for headers in ({"A B": "c"}, {"A": "b\r\nC: d"}, {"A": "é"}, ["A"], {"A": 1}):
        with pytest.raises(InvalidSetting):
            Webhook("https://hooks.example.com", headers=headers)  # type: ignore[arg-type]
    for timeout in (0, -1, "5"):
        with pytest.raises(InvalidSetting):
            Webhook("https://hooks.example.com", timeout=timeout)  # type: ignore[arg-type]
    with pytest.raises(InvalidSetting):
        Sentry("")
