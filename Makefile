# The verbs of the project. Each installs what it needs and can be repeated.
SWIFT ?= swift
# What `run` needs, and nothing that a newcomer would only wait for.
PROGRAMS = bghost bghost-worker stormy-station WeatherCheck PhotoUpload Notifier Overrun
SOURCES = Package.swift $(wildcard Sources SDK Plugins Examples Templates Tests Benchmarks Fuzz)

# How long `make fuzz` has for each target.
SECONDS = 60

# The tests whose result depends on the kernel: sandbox, limits, processes.
# An emulated processor is too slow for those that hold bghost to its times.
KERNEL_TESTS = (ControlGroup|Delegation|HeldGroup|HeldDaemon|Escape|WritableCode|Doctor|StuckWorker|$(strip \
    )ChildProcess|PacketSocket)Tests|A run that (allocates|burns|forks)

.PHONY: run demo demo-fleet build install uninstall package tarball image sdk-release package-test test browser check lint format \
	sanitize bench fuzz storm kernels prerequisites docs

# For `install` and `uninstall`, and the folder of the programs that are installed.
PREFIX = /usr/local
DESTDIR =
BIN = .build/release

## Builds bghost for a trial, without optimization, and plays the sample app against its counterpart,
## offline, to an end.
run: prerequisites
	BGHOST_UNOPTIMIZED=1 BGHOST_PRODUCTS='$(PROGRAMS)' SWIFT='$(SWIFT)' Scripts/build
	.build/debug/stormy-station play --bghost .build/debug/bghost --config Config/tasks.json

## Builds what `run` builds, and runs the daemon with the dashboard and tasks to look at, until Ctrl-C.
demo: prerequisites
	BGHOST_UNOPTIMIZED=1 BGHOST_PRODUCTS='$(PROGRAMS)' SWIFT='$(SWIFT)' Scripts/build
	.build/debug/stormy-station demo --bghost .build/debug/bghost --config Config/demo.json

## Builds bghost and plays a fleet: three daemons and one PostgreSQL, a host that is killed and one that is drained,
## offline, to an end.
demo-fleet: prerequisites
	@{ ls /usr/lib/postgresql/*/bin/initdb && ldconfig -p | grep libpq.so.5; } >/dev/null 2>&1 || Scripts/prerequisites postgresql
	BGHOST_UNOPTIMIZED=1 BGHOST_PRODUCTS='bghost bghost-worker' SWIFT='$(SWIFT)' Scripts/build
	Scripts/demo-fleet

## Builds bghost and the sample app as they are shipped, in .build/release.
build: prerequisites
	@Scripts/prerequisites zlib1g-dev
	SWIFT='$(SWIFT)' Scripts/release $(PROGRAMS)

## Installs the programs of BIN, which `make build` makes, below PREFIX; it builds nothing, so it may be run as root.
install:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' BIN='$(BIN)' Scripts/install

## Removes what `install` installed; /etc/bghost and /var/lib/bghost stay.
uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' Scripts/install --remove

## Makes the Debian packages of the programs of BIN, in .build/package.
package:
	@Scripts/prerequisites dpkg-dev lintian
	@BIN='$(BIN)' Scripts/package

## Makes the reference of the SDK's module BackgroundTasks, for a browser, in .build/docs.
docs:
	@SWIFT='$(SWIFT)' Scripts/docs

## Makes a tarball of the programs of BIN that needs only a C library, in .build/package.
tarball:
	@BIN='$(BIN)' Scripts/tarball

## Makes an image for containers of the programs of BIN, in .build/package.
image:
	@Scripts/prerequisites dpkg-dev mmdebstrap umoci
	@BIN='$(BIN)' Scripts/image

## Makes this version of the SDK a commit with its tag in the git repository FOLDER, which it makes if there is none.
## Packages depend on it by URL.
sdk-release:
	@Scripts/export-sdk '$(subst ','\'',$(or $(value FOLDER),$(error name a repository: make sdk-release FOLDER=/srv/git/bghost-sdk)))'

## Checks the units, the packages and the manual pages of the programs of BIN, and installs, upgrades and purges them in a
## container that systemd boots; runs the tarball in small roots of two releases of Debian, and the image with runc.
package-test:
	@Scripts/prerequisites bsdextrautils dpkg-dev lintian man-db mmdebstrap runc skopeo systemd systemd-container umoci
	BIN='$(BIN)' Tests/Package/run
	BIN='$(BIN)' Tests/Package/tarball
	BIN='$(BIN)' Tests/Package/image
	Tests/Package/prometheus

## Builds and runs every test, those of the dashboard in Chromium too; with ONE='REGEX' only those whose suite or name
## it matches, in one process. Without a Rust compiler the test of the example in Rust fails, without Go that of its
## template, without a PostgreSQL server those of fleets, without gdb those of `plugin run --debug`, and no other.
ifneq ($(value ONE),)
test: prerequisites
	SWIFT='$(SWIFT)' Scripts/build --build-tests
	SWIFT='$(SWIFT)' Scripts/test --one '$(subst ','\'',$(value ONE))'
else
test: prerequisites
	@{ ls /usr/lib/postgresql/*/bin/initdb && command -v openssl; } >/dev/null 2>&1 || Scripts/prerequisites postgresql openssl || echo "warning: PostgreSQL cannot be installed" >&2
	@command -v gdb >/dev/null || Scripts/prerequisites gdb || echo "warning: gdb cannot be installed" >&2
	@{ command -v zsh && command -v fish; } >/dev/null || Scripts/prerequisites zsh fish || echo "warning: zsh and fish cannot be installed" >&2
	@command -v rustc >/dev/null || Scripts/prerequisites rustc || echo "warning: rustc cannot be installed" >&2
	@{ command -v go && command -v gcc; } >/dev/null || Scripts/prerequisites golang-go gcc || echo "warning: Go cannot be installed" >&2
	SWIFT='$(SWIFT)' Scripts/build --build-tests
	SWIFT='$(SWIFT)' Scripts/test
	Scripts/browser
endif

## Runs the tests of the dashboard in Chromium, against the programs that `test` built; ARGS= for pytest.
browser: prerequisites
	Scripts/browser $(ARGS)

## What a change must pass: format, warnings (errors in Package.swift), tests.
check: lint test

lint:
	$(SWIFT) format lint --strict --recursive --parallel $(SOURCES)

format:
	$(SWIFT) format --in-place --recursive --parallel $(SOURCES)

## Runs the tests of the modules that handle memory and threads themselves, with two sanitizers.
sanitize: prerequisites
	SWIFT='$(SWIFT)' Scripts/sanitize

## Measures bghost against its floors, in one run; SHORT=1 only sees that each step works.
bench: prerequisites
	Benchmarks/run $(if $(SHORT),--short)

## Fuzzes with coverage: SECONDS= for each target, TARGET= for one of them; fails if it finds.
fuzz: prerequisites
	Fuzz/run $(SECONDS) $(TARGET)

## Runs RUNS hostile handlers through one daemon and counts what is left, and kills ROUNDS daemons under load; a few
## of both are in `test`.
storm: prerequisites
	SWIFT='$(SWIFT)' Scripts/build --build-tests
	BGHOST_STORM_RUNS=$(or $(RUNS),10000) BGHOST_CRASH_ROUNDS=$(or $(ROUNDS),1000) $(SWIFT) test --skip-build \
	    --disable-xctest --filter 'IntegrationTests.SeparateHosts/StormTests|ProgramTests.CrashTests'

## Runs the tests of the sandbox and the limits under KERNEL, by default Debian's own, in a virtual machine.
kernels: prerequisites
	@Scripts/prerequisites busybox-static cpio e2fsprogs kmod qemu-system-x86 xz-utils
	SWIFT='$(SWIFT)' Scripts/build --build-tests
	timeout --kill-after=10 20m Tests/Kernels/run $(or $(KERNEL),stable) \
	    env SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=2 .build/debug/bghostPackageTests.xctest \
	    --testing-library swift-testing --filter '$(KERNEL_TESTS)'

prerequisites:
	@Scripts/prerequisites
