# `make demo` and `make test` do all their own set-up; all they ask of a machine is Python 3.11 or later.

SECONDS ?= 30
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3 python; do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$python; break; }; done)

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq install
COMPILE := CUSTOM_COMPILE_COMMAND="make constraints" $(BIN)/pip-compile --quiet --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-emit-options --strip-extras --allow-unsafe

.DEFAULT_GOAL := help
.PHONY: help demo test check format lint types layers soak bench proofs constraints postgresql chromium clean

help:
	@echo "make demo         three replicas share one set of jobs, one is killed half-way (SECONDS=30)"
	@echo "make test         every test but the long ones, with a real PostgreSQL, PgBouncer and Chromium"
	@echo "make check        format, lint, types, layers, tests"
	@echo "make format       write the code the way the checks want it"
	@echo "make soak         the tests of real processes, minutes each"
	@echo "make bench        the measurements behind the figures in the docs"
	@echo "make proofs       write the names of the tests below the guarantees they prove"
	@echo "make constraints  choose the pinned versions anew"

demo: .venv/installed
	@$(BIN)/onebeat demo --seconds $(SECONDS)

# Fleets of real processes want the machine to themselves: apart from the tests that compute. So do browsers.
test: .venv/developed postgresql chromium
	$(BIN)/pytest --quiet --ignore tests/processes --ignore tests/browser --numprocesses 2
	$(BIN)/pytest --quiet tests/processes --numprocesses 2 --dist worksteal
	$(BIN)/pytest --quiet tests/browser

check: .venv/developed lint types layers test

format: .venv/developed
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

lint: .venv/developed
	$(BIN)/ruff format --check
	$(BIN)/ruff check

types: .venv/developed
	$(BIN)/mypy

layers: .venv/developed
	$(BIN)/lint-imports

soak: .venv/developed postgresql chromium
	$(BIN)/pytest -m soak --timeout 1800 --numprocesses 2

bench: .venv/developed postgresql
	@for measured in import_time next_instants idle fleet history boundary dashboard; do $(BIN)/python -m bench.$$measured || exit; done

proofs: .venv/developed
	$(BIN)/python -m tests.project.rules

postgresql:
	@.ci/postgresql

chromium:
	@.ci/chromium

# base.txt: what the package needs; build.txt: what installs it; dev.txt: both, the extras and the tools.
constraints: .venv/developed
	$(COMPILE) --upgrade --output-file requirements/base.txt pyproject.toml
	$(COMPILE) --upgrade --output-file requirements/build.txt requirements/build.in
	$(COMPILE) --upgrade --output-file requirements/dev.txt --extra postgres --extra sentry --extra ui pyproject.toml requirements/build.in requirements/dev.in

.venv/installed: pyproject.toml requirements/base.txt requirements/build.txt
	@test -n "$(PYTHON)" || { echo "onebeat needs Python 3.11 or later with venv; name one: make PYTHON=..." >&2; exit 1; }
	@test -x $(BIN)/pip || { echo "Making .venv with $(PYTHON)"; rm -rf .venv; $(PYTHON) -m venv .venv; }
	@$(PIP) --require-hashes -r requirements/base.txt -r requirements/build.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/developed: .venv/installed requirements/dev.txt
	@echo "Installing the tools of the tests and checks"
	@$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
