"""The guarantees and their tests name each other."""

from __future__ import annotations

import pytest

from tests.project.rules import promised_rules, proofs, shown_proofs


@pytest.mark.parametrize("rule", promised_rules())
def test_a_promised_rule_has_a_test_that_carries_its_name(rule: str) -> None:
    assert proofs().get(rule), f"no docstring of a test begins with {rule}:"


def test_a_rule_that_a_test_carries_is_promised() -> None:
    assert set(proofs()) <= set(promised_rules())


def test_a_rule_is_promised_once() -> None:
    assert len(promised_rules()) == len(set(promised_rules()))


def test_a_test_that_the_page_names_exists_and_carries_the_rule() -> None:
    known = proofs()
    gone = {
        rule: shown - set(known.get(rule, []))
        for rule, shown in shown_proofs().items()
        if shown - set(known.get(rule, []))
    }
    assert not gone, "run `make proofs`"


def test_a_rule_with_a_test_shows_it() -> None:
    bare = [rule for rule, shown in shown_proofs().items() if proofs().get(rule) and not shown]
    assert not bare, "run `make proofs`"
