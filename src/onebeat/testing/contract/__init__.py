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
by a clock you hold overrides `pass_time` to move it. See `Bidding` for the other things to override.
"""

from onebeat.testing.contract.leases import LeaseRules
from onebeat.testing.contract.order import OrderRules
from onebeat.testing.contract.tokens import TokenRules
from onebeat.testing.contract.upkeep import UpkeepRules
from onebeat.testing.contract.winning import WinningRules

__all__ = ["ClaimStoreContract"]


class ClaimStoreContract(WinningRules, OrderRules, LeaseRules, TokenRules, UpkeepRules):
    """Every rule of `onebeat.claims.ClaimStore`; a store that passes may be trusted with ticks."""
