# make demo, make test: everything from a clean clone, in an environment of its own (.venv).
# make dev: build in place against packages that are already in .venv.
PYTHON ?= python3.11
VENV ?= .venv
PY := $(VENV)/bin/python

.PHONY: dev
dev:
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) -m pip install -q --no-build-isolation --no-deps -e .

.PHONY: check-fast
check-fast:
	$(PY) -c 'from lit.main import main; main()' -q test
	$(PY) -m pytest -q test
