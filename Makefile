# Every target needs only Python 3.11 or later with pip: .venv is made by itself, and brought up to
# date when pyproject.toml or constraints.txt change.

PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: help tournament test check bench clean

help:  ## Show the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

tournament: $(INSTALLED)  ## Play the tournament of configs/tournament.toml
	$(BIN)/cribai tournament --config configs/tournament.toml

check: $(INSTALLED)  ## Check format, lint, types and import directions
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

# Without the JIT, hashes of NumPy integers wrap with a warning that compiled code does not give.
test: check  ## Run the checks and all tests, then coverage of the kernels without the JIT
	$(BIN)/pytest -m 'not slow'
	$(BIN)/pytest -m slow
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -m 'kernels and not slow' \
		-W 'ignore:overflow encountered:RuntimeWarning' \
		--cov=cribai.engine --cov-fail-under=90

bench: $(INSTALLED)  ## Measure speed
	$(BIN)/cribai bench

clean:  ## Remove what the other targets made
	rm -rf .venv .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache dist
	find agents cribai experiments tests -name __pycache__ -prune -exec rm -rf {} +

# The stamp comes last: a failed or interrupted installation is tried again.
$(INSTALLED): pyproject.toml constraints.txt
	@test -n '$(PYTHON)' || { echo 'Python 3.11 or later is needed: make PYTHON=/path/to/python' >&2; exit 1; }
	@rm -f $@
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@
