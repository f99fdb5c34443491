PYTHON ?= python3.11
VENV ?= .venv

# Build in place against packages that are already in $(VENV) (for development).
.PHONY: dev
dev:
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(VENV)/bin/python -m pip install -q --no-build-isolation --no-deps -e .
