# Every target does its own set-up; stamp files under .venv make the second run quick.
#   PYTHON=python3.13 make test     another interpreter (3.11 or newer)
#   CARGO_TARGET_DIR is respected; one folder serves all builds.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
DIST ?= dist
FUZZ_S ?= 60
DEMO_ARGS ?=
BENCH_ARGS ?=
PYTEST_ARGS ?=

CARGO := $(shell command -v cargo)
RUST_SOURCES := Cargo.toml $(wildcard Cargo.lock) pyproject.toml \
	$(shell find rust/core rust/py -name '*.rs' -o -name Cargo.toml)
PYTHON_SOURCES := python tests benches

# pyo3 builds against the venv's interpreter, whoever calls cargo: one fingerprint, no rebuilds.
export PYO3_PYTHON := $(abspath $(BIN)/python)
export VIRTUAL_ENV := $(abspath $(VENV))

TOOLS_READY := $(VENV)/.tools-ready
NATIVE_READY := $(VENV)/.native-ready
PEERS_READY := $(VENV)/.peers-ready

.PHONY: help dev demo test rust-test bench bench-quick lint fuzz check wheel clean needs-cargo

help:
	@echo "make demo   the main job on real bytes: write, kill, inspect, resume, prove"
	@echo "make test   all tests, Rust and Python, both engines"
	@echo "make lint   format, clippy, ruff, mypy        make check   lint and test"
	@echo "make bench  the table of ratios               make bench-quick  a smoke test of it"
	@echo "make fuzz   FUZZ_S seconds a target"
	@echo "make wheel  a wheel in $(DIST)/                 make clean   removes what these made"

# The first interpreter of 3.11 or newer that can make a venv.
$(BIN)/python:
	@for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
		if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
			>/dev/null 2>&1; then \
			echo "$$python -m venv $(VENV)"; exec "$$python" -m venv $(VENV); \
		fi; \
	done; \
	echo "Python 3.11 or newer with venv is missing: install it, or say make PYTHON=/path/to/python" >&2; \
	exit 1

$(TOOLS_READY): requirements/dev.txt | $(BIN)/python
	@echo "pip install -r $<"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(NATIVE_READY): $(RUST_SOURCES) $(TOOLS_READY)
	@echo "maturin develop --release"
	@$(BIN)/maturin develop --release >$(VENV)/maturin.log 2>&1 || { cat $(VENV)/maturin.log >&2; exit 1; }
	@touch $@

$(PEERS_READY): requirements/bench.txt $(TOOLS_READY)
	@echo "pip install -r $<"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

needs-cargo:
	@[ -n "$(CARGO)" ] || { \
		echo "cargo is missing: install Rust 1.89 or newer (https://rustup.rs) and run this again" >&2; \
		exit 1; }

dev: needs-cargo $(NATIVE_READY)

ifneq ($(CARGO),)
demo: $(NATIVE_READY)
	@$(BIN)/python -m safepoint demo $(DEMO_ARGS)
else
demo: $(TOOLS_READY)
	@echo "cargo is missing, so this runs on the fallback engine. For the native one install Rust"
	@echo "(https://rustup.rs) and run make demo again."
	@echo
	@SAFEPOINT_ENGINE=fallback PYTHONPATH=python $(BIN)/python -m safepoint demo $(DEMO_ARGS)
endif

test: rust-test $(NATIVE_READY)
	SAFEPOINT_ENGINE=native $(BIN)/python -m pytest tests $(PYTEST_ARGS)
	SAFEPOINT_ENGINE=fallback $(BIN)/python -m pytest tests -m "not once" $(PYTEST_ARGS)

rust-test: needs-cargo
	@if cargo nextest --version >/dev/null 2>&1; then \
		echo "cargo nextest run" && cargo nextest run && cargo test --doc; \
	else \
		echo "cargo test" && cargo test; \
	fi

bench: needs-cargo $(NATIVE_READY) $(PEERS_READY)
	$(BIN)/python -m pytest benches --benchmark-only $(PYTEST_ARGS)
	$(BIN)/python benches/ratios.py $(BENCH_ARGS)

# A smoke test: each bench once, then the ratios on 256 MB, which fail far below their goals only.
bench-quick: needs-cargo $(NATIVE_READY)
	$(BIN)/python -m pytest benches --benchmark-disable -q
	$(BIN)/python benches/ratios.py --quick $(BENCH_ARGS)

lint: needs-cargo $(NATIVE_READY)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/mypy python/safepoint

check: lint test

wheel: needs-cargo $(TOOLS_READY)
	@$(BIN)/maturin build --release --quiet --interpreter $(BIN)/python --out $(DIST)
	@ls $(DIST)/*.whl

# With the address sanitizer. Leaks are not looked for: a scan's threads may still be on their way
# out when an input ends, and count as leaks then.
fuzz: needs-cargo
	@cargo +nightly fuzz --version >/dev/null 2>&1 || { \
		echo "cargo-fuzz or a nightly toolchain is missing: rustup toolchain install nightly &&" \
			"cargo install cargo-fuzz" >&2; exit 1; }
	for target in $$(cargo +nightly fuzz list --fuzz-dir rust/fuzz); do \
		cargo +nightly fuzz run --fuzz-dir rust/fuzz "$$target" -- \
			-max_total_time=$(FUZZ_S) -detect_leaks=0; \
	done

clean:
	rm -rf $(VENV) $(DIST) .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks benches/results
	find python tests benches -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/safepoint/_native*.so
	[ -n "$${CARGO_TARGET_DIR:-}" ] || rm -rf target
