# make build   .venv/bin/rexmit            make demo   analyse a capture that ships with the project
# make test    everything that is checked  make bench  the benchmarks, beside other tools where installed
# make release the full profile, laid out by what is hot: needs rustup's llvm-tools, takes ten minutes
# make validate  the tests that take minutes each
# make cost    is every command linear in its input? instructions, CPU time and memory; takes an hour
# make wheel   wheels and source archives, the studies' too, into target/dist, each tried in an empty environment (docs/release.md)
# make elsewhere  the code for other systems compiles, and the workflow files are well-formed
# make studies the papers' experiments run again, the pages of docs/studies written anew
# make explorer  the page of rexmit report, from explorer/ (needs Node; the built page is committed)
# make web     the page that analyses captures in the browser, into target/web (needs Node and Rust's wasm32 target)
# make site    docs/ as a site in target/site, its tutorials run, its pictures drawn (opens from the file)
# make man     the manual page, from the parser of the command line   (man -M .venv/share/man rexmit)
# make fuzz    each fuzz target for a minute; make fuzz-short: ten seconds; make fuzz-coverage: lines that targets reach
# make documents  every command and snippet of the documents on a plain install, the live bench's too

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
TARGET := $(if $(CARGO_TARGET_DIR),$(CARGO_TARGET_DIR),target)
# Captures that are read where they lie, if they do: other projects' own, and all runs of ours.
BESIDE := $(addprefix ../shared/captures/,public testbed kernel)
DEMO   := tests/data/interruption.snd.pcap.gz

# What the extension is made of: when none of it is newer than the stamp, nothing is built.
SOURCES := $(shell find crates -name target -prune -o -type f \( -name '*.rs' -o -name Cargo.toml \) -print) \
           Cargo.toml Cargo.lock pyproject.toml studies/pyproject.toml $(shell find python/rexmit.data -type f)
# The packages that `make build` needs, and those that `make test` needs besides.
NEEDS := $(BIN)/.build-needs
TOOLS := $(BIN)/.test-needs
WHEEL := $(BIN)/.wheel-needs
BUILT := $(BIN)/.built

.PHONY: build full release demo test validate test-rust test-python lint lint-rust lint-python studies explorer web site man documents bench \
        cost cost-worst instructions wheel elsewhere fuzz fuzz-short fuzz-coverage clean

build: $(BUILT)

# pip's own cache and quiet mode: what it says on success nobody reads.
PIP_SAYS := PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1
PIP      := $(PIP_SAYS) $(BIN)/python -m pip install
# Cargo shows how far it is: a bar on a terminal, else a line for each crate.
MATURIN  := $(PIP_SAYS) VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop
# The papers' studies, from their folder: what they need is installed with the other packages.
STUDIES  := $(PIP) --no-deps --no-build-isolation -e studies
# The packages of lists in pyproject.toml: `runtime`, or some of the optional ones, as pip reads them from a file.
# `studies` is what the package in studies/ needs besides rexmit.
LISTED    = $(BIN)/python -c 'import sys, tomllib; p, s = (tomllib.load(open(f + "pyproject.toml", "rb"))["project"] for f in ("", "studies/")); \
  needs = [one for one in s["dependencies"] if not one.startswith("rexmit=")]; \
  lists = p["optional-dependencies"] | {"runtime": p["dependencies"], "studies": needs}; \
  print(*{package: None for name in sys.argv[1:] for package in lists[name]}, sep="\n")'
# What the commands of README.md need.
USED := runtime tables figures studies sweep

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "rexmit needs Python 3.11 or newer, and $(PYTHON) is older: make build PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) cannot make a virtual environment: install it (apt-get install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(NEEDS): pyproject.toml studies/pyproject.toml | $(BIN)/python
	@echo "1 of 2: Python packages into $(VENV) (numpy, scipy, pyarrow, matplotlib, DuckDB and what they need: 130 MB the first time)"
	@$(LISTED) $(USED) | $(PIP) 'maturin>=1.9.4,<2' 'hatchling>=1.26' 'editables>=0.5' -r /dev/stdin
	@touch $@

# The profile `local` of Cargo.toml: soon built, nearly as fast as what wheels and benchmarks have.
$(BUILT): $(SOURCES) $(NEEDS)
	@command -v cargo >/dev/null || { echo "rexmit needs a Rust toolchain: see https://rustup.rs" >&2; exit 1; }
	@echo "2 of 2: rexmit's Rust extension, 86 crates, 220 to 350 s of CPU time the first time: two to four minutes on two free cores, longer beside other work; less after a change"
	@$(MATURIN) --profile local
	@$(STUDIES)
	@touch $@
	@echo "built: $(BIN)/rexmit"

# The same with the full profile (Cargo.toml's `release`), as wheels are built; nothing to do after `make release`.
FULL = $(BIN)/python -c 'from rexmit import _core; assert _core.__build__.startswith("release")' 2>/dev/null

full: $(NEEDS)
	@{ $(MAKE) --question build && $(FULL); } || { \
	  echo "rexmit's Rust extension with the full profile, 220 to 400 s of CPU time the first time: three to five minutes on two free cores, longer beside other work; less after a change" && \
	  $(MATURIN) --release && touch $(BUILT); }

# With a profile of its own runs (benches/profile.py), as releases are to be built. `make build` after a change is
# plain again. The flags differ from those of a plain build: a folder of its own spares both from being built anew.
PROFILE := $(abspath $(TARGET))/profile

release: build
	$(BIN)/python benches/profile.py
	RUSTFLAGS="-Cprofile-use=$(PROFILE)/rexmit.profdata" CARGO_TARGET_DIR=$(PROFILE)/fast $(MATURIN) --release

demo: build
	$(BIN)/rexmit analyze $(DEMO) --out demo-out

test: lint test-rust test-python

# A test that passes shows nothing: what is left out is said here.
test-rust:
	@for dir in $(BESIDE); do test -d $$dir || echo "skipped: the tests over $$dir, which is not there"; done
	@unshare --net true 2>/dev/null || \
	  echo "skipped: the tests of the live bench, which need root and network namespaces (rexmit live check)"
	cargo test --workspace --quiet

# As many processes as cores; tests that share what they look at go to the same one (tests/python/conftest.py).
test-python: build $(TOOLS)
	$(BIN)/python -m pytest -n auto --dist loadgroup

# Tests that are marked slow, and those of Rust that are ignored.
SLOW ?= slow
validate: build $(TOOLS)
	cargo test --workspace --tests --quiet -- --ignored
	$(BIN)/python -m pytest -m "$(SLOW)"

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
	@$(LISTED) dev | $(PIP) -r /dev/stdin
	@touch $@

# The pages of docs/studies, from runs with the usual number of replications.
studies: build
	$(BIN)/rexmit study run all --docs docs/studies

# Compared with its sources by tests/python/test_report_bundle.py.
explorer:
	cd explorer && npm ci --no-audit --no-fund && npm run build && npm test

# One file, which `make site` puts into the site: what is lacking is named.
web: build
	$(BIN)/python site/web.py

# Every command on the pages of tutorials and questions is run.
site: build $(TOOLS)
	@$(BIN)/python site/web.py || echo "the site goes without the page that analyses in the browser"
	$(BIN)/python site/build.py

# A build or a wheel installs it as share/man/man1/rexmit.1.
man: build
	$(BIN)/python validation/manpage.py

documents: build
	$(BIN)/python validation/documents.py

# Targets in Rust are listed by the fuzzer; those in Python are programs.
FUZZ_SECONDS ?= 60
FUZZ_SEED    ?= 1
FUZZ_TIME     = --seed $(FUZZ_SEED) --seconds $(FUZZ_SECONDS)
fuzz_with     = for target in $$($(1) list | cut -d' ' -f1); do $(1) $$target $(FUZZ_TIME) || exit 1; done
fuzz_python   = for target in mcp sweeps; do $(BIN)/python fuzz/$$target.py $(FUZZ_TIME) || exit 1; done

fuzz: build $(TOOLS)
	cargo build --quiet --package rexmit-fuzz --profile fuzz
	@$(call fuzz_with,$(TARGET)/fuzz/fuzz)
	@$(fuzz_python)

# With the program that the tests have built, of the profile with overflow checks.
fuzz-short: FUZZ_SECONDS = 10
fuzz-short: build $(TOOLS)
	cargo test --workspace --quiet --test driver
	@$(call fuzz_with,$(TARGET)/debug/fuzz)
	@$(fuzz_python)

fuzz-coverage: build $(TOOLS)
	$(BIN)/python fuzz/coverage_of_targets.py

bench: full
	$(BIN)/python benches/bench.py

cost: build
	$(BIN)/python benches/cost.py

# The five worst shapes, for every change: instructions, so a busy machine does not matter.
cost-worst: build
	$(BIN)/python benches/cost.py --worst

# Instructions that a packet costs, against bars.
instructions: build
	$(BIN)/python benches/instructions.py

$(WHEEL): pyproject.toml | $(BIN)/python
	@$(LISTED) wheel | $(PIP) -r /dev/stdin
	@touch $@

wheel: $(WHEEL)
	$(BIN)/python validation/wheels.py

elsewhere: $(WHEEL)
	$(BIN)/python validation/elsewhere.py

clean:
	rm -rf $(VENV) $(TARGET) demo-out python/rexmit/_core*.so
	find python studies tests benches validation -name __pycache__ -type d -prune -exec rm -rf {} +
