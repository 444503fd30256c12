# make build   .venv/bin/rexmit            make demo   analyse a capture that ships with the project
# make test    everything that is checked  make bench  the benchmarks, beside other tools where installed
# make release the same as build, laid out by what is hot: needs rustup's llvm-tools, takes three times as long
# make studies the papers' experiments run again, the pages of docs/studies written anew

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
# Captures that are read where they lie, if they do: other projects' own, and all runs of ours.
BESIDE := $(addprefix ../shared/captures/,public testbed kernel)
DEMO   := tests/data/interruption.snd.pcap.gz

# What the extension is made of: when none of it is newer than the stamp, nothing is built.
SOURCES := $(shell find crates -name target -prune -o -type f \( -name '*.rs' -o -name Cargo.toml \) -print) \
           Cargo.toml Cargo.lock pyproject.toml
# The packages that `make build` needs, and those that `make test` needs besides.
NEEDS := $(BIN)/.build-needs
TOOLS := $(BIN)/.test-needs
BUILT := $(BIN)/.built

.PHONY: build release demo test test-rust test-python lint lint-rust lint-python studies bench clean

build: $(BUILT)

# pip's own cache and quiet mode: what it says on success nobody reads.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rexmit needs Python 3.11 or newer, and $(PYTHON) is older: make build PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) can not make a virtual environment: install it (apt-get install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(NEEDS): pyproject.toml | $(BIN)/python
	$(PIP) 'maturin>=1.9.4,<2'
	@touch $@

$(BUILT): $(SOURCES) $(NEEDS)
	@command -v cargo >/dev/null || { echo "rexmit needs a Rust toolchain: see https://rustup.rs" >&2; exit 1; }
	PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV=$(abspath $(VENV)) \
	  $(BIN)/maturin develop --release --quiet
	@touch $@

# With a profile of its own runs (benches/profile.py), as releases are to be built. `make build` after a change is
# plain again. The flags differ from those of a plain build: a folder of its own spares both from being built anew.
PROFILE := $(abspath $(TARGET))/profile

release: build
	$(BIN)/python benches/profile.py
	RUSTFLAGS="-Cprofile-use=$(PROFILE)/rexmit.profdata" CARGO_TARGET_DIR=$(PROFILE)/fast \
	  PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV=$(abspath $(VENV)) \
	  $(BIN)/maturin develop --release --quiet

demo: build
	$(BIN)/rexmit analyze $(DEMO) --out demo-out

test: lint test-rust test-python

# A test that passes shows nothing: what is left out is said here.
test-rust:
	@for dir in $(BESIDE); do test -d $$dir || echo "skipped: the tests over $$dir, which is not there"; done
	@unshare --net true 2>/dev/null || \
	  echo "skipped: the tests of the live bench, which need root and network namespaces (rexmit live check)"
	cargo test --workspace --quiet

test-python: build $(TOOLS)
	$(BIN)/python -m pytest

lint: lint-rust lint-python

lint-rust:
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt >/dev/null 2>&1 || \
	  { echo "the format check needs rustfmt: rustup component add rustfmt" >&2; exit 1; }
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy >/dev/null 2>&1 || \
	  { echo "the lints need clippy: rustup component add clippy" >&2; exit 1; }
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --features rexmit-py/python --quiet -- -D warnings

lint-python: build $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(TOOLS): pyproject.toml $(BUILT)
	$(PIP) $$($(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"], sep="\n")' | tr '\n' ' ')
	@touch $@

# The pages of docs/studies, from runs with the usual number of replications.
studies: build
	$(BIN)/rexmit study run all --docs docs/studies

bench: build
	$(BIN)/python benches/bench.py

clean:
	rm -rf $(VENV) $(TARGET) demo-out python/rexmit/_core*.so
	find python tests benches validation -name __pycache__ -type d -prune -exec rm -rf {} +
