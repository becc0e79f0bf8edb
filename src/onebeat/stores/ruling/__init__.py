"""Pure: the rows as they stand and what is asked in, the answer and the rows to write out.

For the stores that decide in this process while they hold the lock.
"""

from onebeat.stores.ruling.bids import Circumstances, Ruled, rule
from onebeat.stores.ruling.ends import end, lose, take_back
from onebeat.stores.ruling.pauses import Pause, Pauses
from onebeat.stores.ruling.repairs import repair
from onebeat.stores.ruling.rows import JobKey, JobRow, TickKey, TickRow, tick_key
from onebeat.stores.ruling.times import MICROSECOND, instant, instant_or_none, micros, micros_or_none

__all__ = [
    "MICROSECOND",
    "Circumstances",
    "JobKey",
    "JobRow",
    "Pause",
    "Pauses",
    "Ruled",
    "TickKey",
    "TickRow",
    "end",
    "instant",
    "instant_or_none",
    "lose",
    "micros",
    "micros_or_none",
    "repair",
    "rule",
    "take_back",
    "tick_key",
]
