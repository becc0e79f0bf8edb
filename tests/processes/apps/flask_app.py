"""A Flask app with a scheduler that whoever serves it starts."""

from __future__ import annotations

from flask import Flask

from tests.processes.jobs import scheduler_on
from tests.processes.orders import Orders

orders = Orders.from_environment()
scheduler = scheduler_on(orders.store, orders)
app = Flask(__name__)
