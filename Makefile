# make demo    compile a kernel and run it on real data in the simulator
# make test    all tests
# Both work in a clean clone: they make the environment .venv and install what they need.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
PY = $(VENV)/bin/python
PIP = $(PY) -m pip --disable-pip-version-check --no-input --retries 10 --timeout 60 install -q --progress-bar off
# Unpacking takes one core's time: what the build needs and the rest, which has no package in common, are installed
# side by side. Compiling all of the packages' Python takes longer than unpacking them; what is imported is compiled then.
PIP_PACKAGES = $(PIP) --no-compile
# So Python has to keep what it compiles, or each process would compile all packages anew.
unexport PYTHONDONTWRITEBYTECODE

# What the extension is built from; sources in Python are used in place.
BUILD_INPUTS = pyproject.toml CMakeLists.txt $(shell find dialect machine -type f)

.DEFAULT_GOAL = help
.DELETE_ON_ERROR:
.PHONY: help demo test test-all lint docs dev clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

$(VENV)/built: $(BUILD_INPUTS)
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; v == (3, 11) or sys.exit(f"Python 3.11 is needed, $(PYTHON) is {v[0]}.{v[1]}: make PYTHON=…")'
	@test -x $(PY) || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing wave-mlir into $(VENV) (downloads about 450 MB the first time)"
	@$(PY) tools/requirements.py build > $(VENV)/build-requirements.txt
	@$(PY) tools/requirements.py run > $(VENV)/run-requirements.txt
	@$(PIP_PACKAGES) -r $(VENV)/run-requirements.txt & others=$$!; \
	  $(PIP_PACKAGES) -r $(VENV)/build-requirements.txt; code=$$?; wait $$others && exit $$code
	@PATH="$(abspath $(VENV))/bin:$$PATH" CMAKE_ARGS="-DWAVE_UNITY=ON $$CMAKE_ARGS" $(PIP_PACKAGES) --no-build-isolation -e .
	@touch $@

$(VENV)/with-%: $(VENV)/built
	@echo "installing what the $* needs"
	@$(PY) tools/requirements.py $* > $(VENV)/$*-requirements.txt
	@$(PIP_PACKAGES) -r $(VENV)/$*-requirements.txt
	@touch $@

demo: $(VENV)/with-demo
	@$(PY) examples/digits.py

test: $(VENV)/with-test
	@$(PY) tools/run_tests.py

# make test-all    the slow sweeps too
test-all: $(VENV)/with-test
	@$(PY) tools/run_tests.py --all

# make lint    ruff, pyright and the direction of imports
lint: $(VENV)/with-test
	@$(PY) -m ruff check .
	@$(PY) tools/lint_imports.py
	@$(PY) tools/typecheck.py

# make docs    the reference pages that are generated
docs: $(VENV)/built
	@$(PY) tools/pass_docs.py --write
	@$(PY) tools/barrier_docs.py --write
	@$(PY) tools/dialect_docs.py --write
	@$(PY) tools/error_docs.py --write

# make dev    build again in place, file by file, with packages that are in .venv already
dev:
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@PATH="$(abspath $(VENV))/bin:$$PATH" CMAKE_ARGS="-DWAVE_UNITY=OFF $$CMAKE_ARGS" $(PIP) --no-build-isolation --no-deps -e .

# make clean    remove the environment and what was built
clean:
	rm -rf $(VENV) build demo-out
