from __future__ import annotations

import pytest

from tests.engine.given import Given


@pytest.fixture
def given() -> Given:
    return Given()
