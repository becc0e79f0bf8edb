"""Several local replicas of one application, for development."""

from __future__ import annotations

import asyncio
import signal

import click

from onebeat.cli.replicas import Child, end_children, start_child
from onebeat.engine.signals import on_stop_signals

_PATIENCE = 5.0
# How a replica ends that a signal reaches before it is ready to stop in order.
_STOPPED_EARLY = (-signal.SIGTERM, 130)


async def supervise(application: str, count: int) -> int:
    """Run *count* replicas of *application* until they have all ended; 1 if one of them died, else 0.

    Signals are passed on, each as often as it comes: a second one tells a replica to stop waiting. Either
    is passed on as SIGTERM, which ends a replica that is still being imported without a word.
    """
    children: list[Child] = []
    signals: list[signal.Signals] = []

    def forward(number: signal.Signals) -> None:
        signals.append(number)
        for child in children:
            child.send(signal.SIGTERM)

    with on_stop_signals(forward):
        try:
            for label in (f"replica-{number}" for number in range(1, count + 1)):
                if signals:
                    break
                arguments = ["-m", "onebeat", "run", application, "--replica-of-parent", label]
                children.append(await start_child(label, arguments))
                # One that came while this child was being made did not reach it.
                for _ in signals:
                    children[-1].send(signal.SIGTERM)
            died = await asyncio.gather(*(_attend(child, signals) for child in children))
        finally:
            await end_children(children, _PATIENCE)
    return int(any(died))


async def _attend(child: Child, signals: list[signal.Signals]) -> bool:
    """Pass on what *child* prints until it ends; whether it died rather than stopped."""
    async for line in child.lines():
        click.echo(f"{child.label} | {line}")
    code = await child.process.wait()
    if code == 0 or (signals and code in _STOPPED_EARLY):
        return False
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    click.echo(f"onebeat: {child.label} died ({how})", err=True)
    return True
