# The verbs of the project. Each installs what it needs and can be repeated.
SWIFT ?= swift
RELEASE = $(SWIFT) build -c release --static-swift-stdlib
BIN = .build/release
SOURCES = Package.swift Sources Plugins Tests Benchmarks

# A test's time limit counts from its start, so not all of them are started at once.
TEST = SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6 timeout --kill-after=10 20m

.PHONY: run build test check lint format bench prerequisites

## Builds bghost and plays the sample app against its counterpart, offline, to an end.
run: build
	$(BIN)/stormy-station play --bghost $(BIN)/bghost --config Config/tasks.json

build: prerequisites
	$(RELEASE)

## Builds and runs every test.
test: prerequisites
	$(SWIFT) build --build-tests
	$(TEST) $(SWIFT) test --skip-build --disable-xctest

## What a change must pass: format, warnings (errors in Package.swift), tests.
check: lint test

lint:
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)

format:
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

## Measures bghost against its floors, in one run; SHORT=1 only sees that each step works.
bench: prerequisites
	Benchmarks/run $(if $(SHORT),--short)

prerequisites:
	@Scripts/prerequisites
