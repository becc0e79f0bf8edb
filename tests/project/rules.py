"""Which tests prove which rules; run as a program, it writes them into the page of the guarantees."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.project.pages import ROOT

GUARANTEES = ROOT / "docs" / "concepts" / "guarantees.md"
_RULE = re.compile(r"[SJWCDFXT]-[A-Z]+(?:-[A-Z]+)*")
_HEADING = re.compile(rf"^### ({_RULE.pattern})$", re.MULTILINE)
_PROOF = re.compile(r"\nProof: .*\n")
_SHOWN = 3


class Proof(NamedTuple):
    """A test, by the file it stands in and its name."""

    path: str
    test: str

    def __str__(self) -> str:
        return f"`{self.test}` in `{self.path}`"


def promised_rules() -> list[str]:
    """The rules on the page, in its order."""
    return _HEADING.findall(GUARANTEES.read_text())


@cache
def proofs() -> dict[str, list[Proof]]:
    """The tests that carry a rule at the head of their docstring, by rule."""
    found: dict[str, list[Proof]] = defaultdict(list)
    for path in _test_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                for rule in _rules_of(node):
                    found[rule].append(Proof(str(path.relative_to(ROOT)), node.name))
    return found


def shown_proofs() -> dict[str, set[Proof]]:
    """The tests named on the page, by rule."""
    parts = _HEADING.split(GUARANTEES.read_text())[1:]
    return {
        rule: {Proof(path, test) for test, path in re.findall(r"`(test_\w+)` in `([^`]+)`", text)}
        for rule, text in zip(parts[::2], parts[1::2], strict=True)
    }


def with_proofs(page: str, known: dict[str, list[Proof]]) -> str:
    """*page* with a line of proofs below every rule, from as many files as there are."""
    parts = _HEADING.split(_PROOF.sub("", page))
    written = [parts[0]]
    for rule, text in zip(parts[1::2], parts[2::2], strict=True):
        written += [f"### {rule}", _with_proof(text, _chosen(known.get(rule, [])))]
    return "".join(written)


def _test_files() -> Iterator[Path]:
    yield from sorted((ROOT / "tests").rglob("*.py"))
    yield from sorted((ROOT / "src" / "onebeat" / "testing").rglob("*.py"))


def _rules_of(test: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """`S-NEXT, S-DST: …` names two."""
    head, colon, _ = (ast.get_docstring(test) or "").partition(":")
    names = re.split(r"\s*,\s*|\s+and\s+", head)
    return names if colon and all(_RULE.fullmatch(name) for name in names) else []


def _chosen(tests: list[Proof]) -> list[Proof]:
    """The first test of each file, then the second of each, and so on."""
    seen: dict[str, int] = defaultdict(int)
    ranked = []
    for test in tests:
        ranked.append((seen[test.path], test))
        seen[test.path] += 1
    return [test for _, test in sorted(ranked)[:_SHOWN]]


def _with_proof(text: str, tests: list[Proof]) -> str:
    if not tests:
        return text
    # The rule's own text ends where a blank line is followed by the next chapter.
    body, gap, chapter = text.rstrip("\n").partition("\n\n## ")
    tail = f"{gap}{chapter}" if gap else ""
    end = text[len(text.rstrip("\n")) :]
    return f"{body}\n\nProof: {' · '.join(map(str, tests))}{tail}{end}"


if __name__ == "__main__":
    GUARANTEES.write_text(with_proofs(GUARANTEES.read_text(), proofs()))
