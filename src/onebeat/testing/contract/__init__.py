"""The contract every claim store keeps, as tests to run against it.

    from onebeat.testing.contract import ClaimStoreContract

    class TestMyStore(ClaimStoreContract):
        @pytest.fixture(autouse=True)
        async def given(self):
            self.store = await open_my_store()
            yield
            await self.store.close()

The tests are coroutines: run them with pytest-asyncio in auto mode, or put `@pytest.mark.asyncio` (or
anyio's mark) on your class. Every test uses an app name of its own, so the place may be shared and kept.

A store that judges by a server's clock needs nothing more: instants are taken from its answers, and
leases that have to lapse last a fraction of a second, which is really waited for. A store that judges
by a clock you hold overrides `pass_time` to move it. See `Bidding` and `Living` for the other things to
override.
"""

from onebeat.testing.contract.alarms import AlarmRules
from onebeat.testing.contract.control import PauseRules
from onebeat.testing.contract.control_audit import AuditRules
from onebeat.testing.contract.control_runs import CancelRules, TriggerRules
from onebeat.testing.contract.counted import CountedPruneRules
from onebeat.testing.contract.crashes import CrashRules
from onebeat.testing.contract.heartbeat import BeatRules, JudgeRules
from onebeat.testing.contract.history import TickHistoryRules
from onebeat.testing.contract.history_fleet import JobHistoryRules, ReplicaHistoryRules
from onebeat.testing.contract.history_marks import MarkRules
from onebeat.testing.contract.history_pages import PagingRules
from onebeat.testing.contract.history_tally import TallyRules
from onebeat.testing.contract.leases import LeaseRules
from onebeat.testing.contract.order import OrderRules
from onebeat.testing.contract.permits import PermitRules
from onebeat.testing.contract.returns import ReturnRules
from onebeat.testing.contract.tokens import TokenRules
from onebeat.testing.contract.upkeep import UpkeepRules
from onebeat.testing.contract.verdicts import OwedRules, VerdictRules
from onebeat.testing.contract.wanted import WantedRules
from onebeat.testing.contract.winning import WinningRules

__all__ = ["ClaimStoreContract"]


class _FleetRules(
    BeatRules, JudgeRules, CrashRules, ReturnRules, VerdictRules, OwedRules, WantedRules, CountedPruneRules
):
    """`onebeat.fleet.FleetStore`."""


class _ControlRules(PauseRules, AuditRules, TriggerRules, CancelRules):
    """`onebeat.control.FleetControl`."""


class _HistoryRules(
    TickHistoryRules, PagingRules, MarkRules, TallyRules, JobHistoryRules, ReplicaHistoryRules
):
    """`onebeat.history.RunHistory`."""


class ClaimStoreContract(
    WinningRules,
    OrderRules,
    LeaseRules,
    TokenRules,
    UpkeepRules,
    _FleetRules,
    _ControlRules,
    _HistoryRules,
    PermitRules,
    AlarmRules,
):
    """Every rule of `onebeat.claims.ClaimStore`; a store that passes may be trusted with ticks.

    And of the other contracts that a store may keep: the tests of one are skipped where it lacks a method.
    """
