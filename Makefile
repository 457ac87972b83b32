# Every target does its own set-up: a .venv that later runs reuse. Needs Python 3.11 or later.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs
# As on a machine that never ran firesteel, and with nothing left behind. Plain pytest works too, without that check.
CLEANLY := $(BIN)/python tools/clean_run.py
# Waiting for Spark leaves cores idle: three processes on two cores, each with a session, each with whole files of tests.
WORKERS ?= 3
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Another number gives a sweep other random draws.
SEED ?= 0

.PHONY: demo test test-all sweep lint types imports docs docs-serve pictures java redis clean help

help:  ## show this help
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "firesteel needs Python 3.11 or later: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "setting up $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

# What the site needs besides: installed by the first `make docs`, so that no other target waits for it.
$(DOCS_STAMP): $(STAMP)
	@echo "setting up the tools for the documentation ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

java:
	@sh tools/java.sh

redis:
	@sh tools/redis.sh

demo: $(STAMP) java  ## see it find a bug
	@$(BIN)/firesteel demo

test: $(STAMP) java  ## the fast tests and the doctests
	$(CLEANLY) $(PYTEST) -m "not slow"

test-all: $(STAMP) java redis  ## all tests
	$(CLEANLY) $(PYTEST)

sweep: $(STAMP) java  ## long random comparisons, before an issue is resolved (SEED=0)
	SWEEP_SEED=$(SEED) $(CLEANLY) $(PYTEST) -m sweep -rP tests

lint: $(STAMP)  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)  ## mypy --strict on src and examples
	$(BIN)/mypy

imports: $(STAMP)  ## the directions of the architecture
	$(BIN)/lint-imports

docs: $(DOCS_STAMP)  ## the documentation, in site/; a broken link or anchor is an error
	@$(BIN)/zensical build --clean --strict

docs-serve: $(DOCS_STAMP)  ## the documentation at http://localhost:8000, built again after every change
	@$(BIN)/zensical serve

pictures: $(STAMP)  ## draw the pictures of the documentation again
	@$(BIN)/python tools/pictures.py

clean:  ## remove what make made
	rm -rf $(VENV) build dist site .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
