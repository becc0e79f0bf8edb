"""The jobs of a shop, for the picture of its calendar: `onebeat run docs.screenshots.shop:scheduler`."""

from __future__ import annotations

import os

from onebeat import Scheduler

scheduler = Scheduler(os.environ["DATABASE_URL"], app="shop", replica="web-1")


def work() -> None:
    pass


for job_id, text in {
    "prices/refresh": "*/10 * * * *",
    "carts/remind": "5,35 7-21 * * *",
    "search/reindex": "40 */4 * * *",
    "orders/export": "15 6-20 * * 1-5",
    "backup/nightly": "30 1 * * *",
    "invoices/month": "0 5 1 * *",
    "payroll/sync": "0 9 * * 1",
}.items():
    scheduler.cron(text, job_id=job_id)(work)
for number in range(40):  # all at once, as people write them
    scheduler.cron("0 3 * * *", job_id=f"report/market-{number:02}")(work)
    scheduler.cron("H H(8-17) * * 1-5", job_id=f"sync/partner-{number:02}", extended=True)(work)
