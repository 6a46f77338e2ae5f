# Everything starts here. Needed on the machine: Python 3.11 to 3.14 with its venv module, make and git; nothing else.
#
#   make check        set up, then the checks of this project on real input: one table of verdicts
#   make test         set up, then ruff, mypy --strict and pytest
#   make lint         ruff and mypy alone
#   make strength     docs/ledger-strength.json and its page: mutants of the families whose section is stale (MUTANTS_ARGS=--fresh: of all)
#   make check-deep   the whole ledger, its families side by side, every repair left out alone, mutants of deep checks too; the tests with fresh seeds and more examples
#   make check-exports  SPIN on exported models against our own checker; needs spin and gcc, and says so
#   make check-browser  the explorer in a headless Chromium, as a person clicks; needs Chromium, and says so (BROWSER=its name)
#   make site         the site of the documentation, in build/site/html; installs its generator beside the environment
#   make lock         write requirements.lock anew (UPGRADE=--upgrade takes the newest versions)
#   make clean        remove the environment and all that was built
#
# The environment is rebuilt only when requirements.lock changes; it is compared by content, so that no network is
# needed once it stands. The project is installed again each time: half a second, and a strict editable install does not
# see a file that was added after it (docs/decisions/0001).

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help check test lint pytest strength check-deep check-exports check-browser site lock clean environment install

VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' 2>/dev/null && echo $$python && break; done)
PYTEST_ARGS ?=
MUTANTS_ARGS ?=
UPGRADE ?=
BROWSER ?= any

export UV_HTTP_TIMEOUT ?= 300
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONPATH PYTHONHOME MYPYPATH
# Without bytecode every process compiles the house anew, and the tests start a hundred.
unexport PYTHONDONTWRITEBYTECODE

help:
	@sed -n 's/^#  *\(make .*\)/\1/p' Makefile

check: install
	$(BIN)/antiphon gate

# Side by side: mypy uses one processor only. The environment is set up once, before both.
test:
	@$(MAKE) --no-print-directory --jobs=2 lint pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/mypy -p antiphon

# In a fresh clone one process compiles all texts, beside mypy: else each worker does, 22 seconds of a processor each.
pytest: install
	@test -d tests/__pycache__ || $(BIN)/python -m pytest --collect-only --quiet $(PYTEST_ARGS) > /dev/null || true
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal $(PYTEST_ARGS)

strength: install
	$(BIN)/antiphon claims --mutants --sample 6 --write docs/ledger-strength.json $(MUTANTS_ARGS)

check-deep: install
	$(MAKE) strength MUTANTS_ARGS="--deep $(MUTANTS_ARGS)"
	$(BIN)/antiphon gate --deep
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal --hypothesis-profile=deep $(PYTEST_ARGS)

check-exports: install
	$(BIN)/antiphon check-exports

check-browser: install
	$(BIN)/python -m pytest tests/report/explorer -m browser --browser $(BROWSER) $(PYTEST_ARGS)

install: environment
	@$(UV) pip install --quiet --offline --python $(BIN)/python --no-deps --no-build-isolation \
		--config-settings editable_mode=strict --editable .

# First uv and setuptools, by pip, then the rest by uv: parallel, and each file against its hash. Should uv not reach the
# packages (pip may be configured for a mirror or a certificate that uv does not know), pip installs the same files.
environment:
	@if cmp -s requirements.lock $(VENV)/requirements.lock && $(BIN)/python -c '' 2>/dev/null; then exit 0; fi; \
	set -eu; \
	test -n "$(PYTHON)" || { echo "no Python 3.11 to 3.14 found; say which: make PYTHON=/path/to/python3" >&2; exit 1; }; \
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' 2>/dev/null || { \
	echo "antiphon needs Python 3.11 to 3.14, and $(PYTHON) is $$($(PYTHON) --version 2>&1); say which: make PYTHON=/path/to/python3" >&2; exit 1; }; \
	echo "setting up $(VENV) with $$($(PYTHON) --version) (1.4 GB on the disk)"; \
	$(PYTHON) -m venv --clear $(VENV) || { echo "the venv module is needed (on Debian: python3-venv)" >&2; exit 1; }; \
	sed -n -e '/^uv==/,/[^\\]$$/p' -e '/^setuptools==/,/[^\\]$$/p' requirements.lock > $(VENV)/first.lock; \
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r $(VENV)/first.lock; \
	$(UV) pip install --python $(BIN)/python --require-hashes --no-deps --no-build-isolation -r requirements.lock \
	|| $(BIN)/python -m pip install --require-hashes --no-deps --no-build-isolation -r requirements.lock; \
	cp requirements.lock $(VENV)/requirements.lock

# The generator of the site is no dependency of the project: it has an environment of its own.
site: environment
	@cmp -s docs/site.lock build/site/environment/site.lock || { $(UV) venv --quiet --clear build/site/environment && \
		$(UV) pip install --quiet --python build/site/environment/bin/python --require-hashes -r docs/site.lock && \
		cp docs/site.lock build/site/environment/site.lock; }
	@build/site/environment/bin/python docs/make_site.py

lock: environment
	$(UV) pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --all-extras --generate-hashes \
		--no-header --no-emit-index-url --no-emit-find-links $(UPGRADE) pyproject.toml --output-file requirements.lock

clean:
	rm -rf $(VENV) build dist antiphon.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find spec model impl conformance tests -name __pycache__ -type d -prune -exec rm -rf {} +
