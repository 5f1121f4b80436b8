// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// Plugins that break one rule each, and the check that finds it.
enum PluginCheckFixtures {
    struct Row: Sendable, CustomTestStringConvertible {
        var fixture: String
        var defines: [String] = []
        var flags: [String] = []
        var check: String
        /// Part of the message.
        var words: String
        var verdict: String
        /// Further checks that must fail with it.
        var also: [String] = []

        init(
            _ fixture: String,
            defines: [String] = [],
            flags: [String] = [],
            _ check: String,
            _ words: String,
            verdict: String = "failed"
        ) {
            self.fixture = fixture
            self.defines = defines
            self.flags = flags
            self.check = check
            self.verdict = verdict
            self.words = words
        }

        func finding(_ more: String...) -> Row {
            var row = self
            row.also = more
            return row
        }

        var testDescription: String { ([fixture] + defines + flags).joined(separator: " ") }
    }

    static var all: [Row] { loading + running + stopping + lasting }

    static let loading = [
        Row("no-note", "note", "has no bghost note"),
        Row("torn-note", "note", "has a damaged note"),
        Row("note-abi-2", "note", "is built for abi=2.0"),
        Row("no-entry", "entry", "exports no bghost_plugin_v1"),
        Row("entry-v2-only", "entry", "it offers bghost_plugin_v2"),
        Row("entry-is-data", "entry", "as data"),
        Row(
            "Checks/well-behaved",
            flags: ["-Wl,-rpath,/nonexistent/lib"],
            "libraries",
            "/nonexistent/lib, which is not there"
        ),
        Row(
            "Checks/well-behaved",
            flags: ["-Wl,-rpath,vendor/lib"],
            "libraries",
            "in `vendor/lib`, a folder that begins wherever"
        ),
        Row("Checks/exports", "exports", "`usleep`"),
        Row("concerns", defines: ["ALLOCATOR"], "exports", "`malloc`"),
        Row(
            "concerns",
            defines: ["STATIC_TLS"],
            "mapping",
            "static thread-local",
            verdict: "warned"
        ),
        Row("undefined-symbol", "load", "no_library_defines_this"),
        Row("crash-in-constructor", "load", "SIGSEGV in its constructors", verdict: "crashed"),
        Row("exit-in-constructor", "load", "exit code 0 in its constructors", verdict: "crashed"),
        Row("hang-in-constructor", "load", "did not come back in its constructors"),
        Row("noise-in-constructor", "load-output", "wrote 32 bytes while it was loaded"),
        Row("Checks/load-threads", "load-threads", "starts a thread"),
        // What is permitted to the runtime of Go is permitted to nothing else.
        Row("Checks/load-threads", defines: ["LIKE_GO"], "load-threads", "starts a thread"),
        Row(
            "Checks/load-threads",
            defines: ["LIKE_GO_FILE"],
            "load-threads",
            "starts a thread"
        ),
        Row(
            "Checks/load-threads",
            defines: ["LIKE_GO", "LIKE_GO_FILE", "SPINS"],
            "load-threads",
            "its goroutines work before it is opened"
        ),
        Row("Checks/load-state", "load-state", "the umask was 077 and is 00"),
        Row(
            "Checks/load-state",
            defines: ["LIKE_GO", "LIKE_GO_FILE"],
            "load-state",
            "the umask was 077 and is 00"
        ),
        Row(
            "Checks/load-state",
            defines: ["HANDLES=SIGURG", "LIKE_GO_FILE"],
            "load-state",
            "the handler of SIGURG"
        ),
        Row(
            "Checks/load-state",
            defines: ["HANDLES=SIGUSR1", "LIKE_GO", "LIKE_GO_FILE"],
            "load-state",
            "the handler of SIGUSR1"
        ),
        Row(
            "Checks/load-state",
            defines: ["HANDLES=SIGURG", "HANDLER=puts", "LIKE_GO", "LIKE_GO_FILE"],
            "load-state",
            "the handler of SIGURG"
        ),
        Row("Checks/load-cost", "load-cost", "ms of processor time", verdict: "warned"),
        Row("null-start", "table", "has no start(). Set it"),
        Row("lying-note", "table", "its note says id=test.another"),
        Row("Checks/entry-again", "entry-again", "another table"),
        Row("Checks/schema", "schema", "is not JSON"),
        Row("fail-in-open", "open", "open() answered -1234"),
        Row(
            "crash-in-open",
            "open",
            "SIGSEGV in bghost_plugin_v1() and open()",
            verdict: "crashed"
        ),
        Row("Checks/open-again", "open-again", "called complete() of the host of before"),
        Row("Checks/two-at-once", "two-at-once", "beside: plugin test.author: open() answered -1"),
        Row(
            "Checks/two-at-once",
            defines: ["IN_RUN"],
            "two-at-once",
            "another worker of it open, a run of work does not end"
        ),
    ]

    static let running = [
        Row("Checks/run", "run", "did not end"),
        Row(
            "Checks/run",
            defines: ["HOW=abort()"],
            "run",
            "SIGABRT in a run of work",
            verdict: "crashed"
        ),
        Row("Checks/run", defines: ["HOW=exit(0)"], "run", "with exit code 0", verdict: "crashed"),
        Row("Checks/run", defines: ["HOW=_exit(0)"], "run", "with exit code 0", verdict: "crashed"),
        Row("Checks/run", defines: ["HOW=for(;;)"], "run", "did not end"),
        Row("Checks/run", defines: ["HOW=pthread_exit(0)"], "run", "did not end"),
        Row(
            "Checks/run",
            defines: ["HOW=for(;;)if(write(2,\"flood\\n\",6)<0)break"],
            "run",
            "did not end"
        ),
        Row("throw", "run", "SIGABRT in a run of throw", verdict: "crashed"),
        Row("throw", defines: ["THROW_C"], "run", "SIGABRT in a run of throw", verdict: "crashed"),
        Row("Checks/status", "status", "start() answered 7"),
        Row("Checks/result", "result", "BG_E_ARG"),
        Row("Checks/calls", "calls", "log() refused"),
        Row("Checks/calls", defines: ["EXTENSION"], "calls", "bg_schedule.pending() refused"),
        Row("Checks/completes-once", "completes-once", "called twice"),
        Row(
            "Checks/completes-once",
            defines: ["AFTER_RETURN"],
            "completes-once",
            "returns a final status, and complete() is called"
        ),
        Row("Checks/prompt-start", "prompt-start", "start() takes 3"),
    ]

    static let stopping = [
        Row("Checks/overlap", "overlap", "did not end, though one alone does"),
        Row("Checks/stop", "stop", "went on beyond its grace"),
        Row("Checks/stop-early", "stop-early", "before it began"),
        Row("Checks/stop-unknown", "stop-unknown", "4000000000"),
        Row("Checks/prompt-cancel", "prompt-cancel", "cancel() takes 1"),
        Row("Checks/stop-descriptor", "stop-descriptor", "reads cancel_fd"),
        Row(
            "Checks/stop-descriptor",
            defines: ["CLOSES"],
            "stop-descriptor",
            "closes cancel_fd"
        ),
        Row("Checks/signals", "signals", "SIGPIPE was the default and is ignored"),
        Row("Checks/process-state", "process-state", "the working folder was / and is /tmp"),
        Row("Checks/children", "children", "leaves 1 process behind"),
        Row("Checks/output", "output", "\"working\\n\"", verdict: "warned"),
    ]

    static let lasting = [
        Row("Checks/close", "close", "threads go on after close()"),
        Row(
            "Checks/close",
            defines: ["SPINS", "LIKE_GO", "LIKE_GO_FILE"],
            "close",
            "its goroutines work after close()"
        ),
        Row("Checks/close", defines: ["DESCRIPTOR"], "close", "among them /dev/null"),
        Row("Checks/close", defines: ["HANG"], "close", "does not return within 2 s"),
        Row("Checks/after-close", "after-close", "calls log() after close()"),
        Row("Checks/thread-exit", "thread-exit", "calls log() when a thread ends"),
        Row("Checks/thread-exit", defines: ["HANGS"], "thread-exit", "does not end within 2 s"),
        Row(
            "Checks/thread-exit",
            defines: ["CRASHES"],
            "thread-exit",
            "SIGABRT in the end of a thread",
            verdict: "crashed"
        ),
        Row("Checks/at-exit", "at-exit", "calls log() while the process exits"),
        Row("Checks/at-exit", defines: ["HANGS"], "at-exit", "does not return within 2 s"),
        Row(
            "Checks/at-exit",
            defines: ["CRASHES"],
            "at-exit",
            "SIGABRT in what it does at exit",
            verdict: "crashed"
        ),
        Row("Checks/drain", "drain", "drain() does not return"),
        Row("Checks/poor-host", "poor-host", "SIGSEGV in a run of work", verdict: "crashed"),
        Row("Checks/newer-host", "newer-host", "its entry function returned 0"),
        Row("Checks/busy-host", "busy-host", "a run does not end"),
        Row("Checks/strict-host", "strict-host", "(BG_E_PERM), a run does not end"),
        Row(
            "Checks/changing-lists",
            "changing-lists",
            "SIGABRT in a run of work, on a host on which lists grow",
            verdict: "crashed"
        ),
        Row("Checks/slow-host", "slow-host", "take 50 ms each, a run does not end"),
        Row("Checks/one-processor", "one-processor", "on one processor, a run does not end"),
        Row("Checks/small-result", "small-result", "with max_result 1"),
        Row("Checks/odd-config", "odd-config", "open() with the config {", verdict: "crashed"),
        Row(
            "Checks/odd-parameters",
            "odd-parameters",
            "a run of work with the parameters {",
            verdict: "crashed"
        ),
        Row("Checks/host-memory", "host-memory", "bg_host, the host's table", verdict: "crashed"),
        Row(
            "Checks/host-memory",
            defines: ["PARAMETERS"],
            "host-memory",
            "what a run is told",
            verdict: "crashed"
        ),
        Row("Checks/late-reads", "late-reads", "what a run is told", verdict: "crashed"),
        Row("Checks/own-table", "own-table", "changes its bg_plugin or a bg_task"),
        Row("Checks/leaks-descriptors", "leaks-descriptors", "leave descriptors behind"),
        // libc allocates for each thread.
        Row("Checks/leaks-threads", "leaks-threads", "leave threads behind")
            .finding("leaks-memory failed"),
        Row("Checks/leaks-memory", "leaks-memory", "leave bytes of memory behind"),
    ]

    /// The check of the row finds it, and no other finds anything.
    static func check(_ row: Row) async throws {
        let library = try Fixture.library(row.fixture, defines: row.defines, flags: row.flags)
        let checked = try await CheckedPlugin(library)
        #expect(
            checked.troubles == ["\(row.check) \(row.verdict)"] + row.also,
            "\(checked.account)"
        )
        #expect(checked.exitCode == 1)
        let found = checked.checks.first { $0.name == row.check }
        #expect(found?.message.contains(row.words) == true, "\(found?.message ?? "")")
    }
}
