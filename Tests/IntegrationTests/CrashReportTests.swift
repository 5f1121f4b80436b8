// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Why a run crashed, and where it was when it did not stop.
    @Suite struct CrashReportTests {
        private func manifest(_ how: String) throws -> Manifest {
            let library = try Fixture.library("crash")
            return try TestManifest.plugin("crash", library: library, handler: how)
        }

        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                ("segfault", SIGSEGV, "(write_through+", "0x10"),
                ("trap", SIGILL, "(give_up+", ""),
                ("abort", SIGABRT, "(give_up+", ""),
                ("segfault-in-thread", SIGSEGV, "(write_through+", "0x10"),
                ("overflow-stack", SIGSEGV, "(descend+", nil),
            ]
        )
        func `A crash report names the place of the crash`(
            handler: String,
            signal: Int32,
            place: String,
            address: String?
        ) async throws {
            try await withDaemon(try manifest(handler), adjust: { durable(&$0) }) { daemon in
                let ended = try await daemon.run("task")
                let stored = try #require(await daemon.host.runs(task: "task", limit: 1).first)
                for record in [ended, stored] {
                    #expect(record.outcome == .crashed(.signalled(signal)))
                    let crash = try #require(record.details?.crash)
                    #expect(crash.place.hasPrefix("crash-") && crash.place.contains(".so+0x"))
                    #expect(crash.place.contains(place), "\(crash)")
                    if let address { #expect(crash.address == address) }
                    #expect(crash.line == "last words")
                    #expect(record.message.contains("last words"))
                    #expect(record.message.contains(place))
                    #expect(crash.stacks.first?.frames.isEmpty == false)
                }
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The message of a Swift fatalError becomes the run's message`() async throws {
            try await withDaemon(try TestManifest.runtime("fatal")) { daemon in
                let record = try await daemon.run("task")
                guard case .crashed(.signalled) = record.outcome else {
                    Issue.record("\(record)")
                    return
                }
                #expect(record.message.contains("Fatal error: the cake is a lie"))
                let crash = try #require(record.details?.crash)
                #expect(crash.place.contains("libRuntimePlugin.so+0x"))
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A plugin's own handler of a signal is respected`() async throws {
            try await withDaemon(try manifest("handles-itself")) { daemon in
                let record = try await daemon.run("task")
                #expect(record.outcome == .crashed(.exited(42)))
                #expect(record.details?.crash == nil)
            }
        }

        @Test(
            .timeLimit(.minutes(5)),
            arguments: ["stuck", "stuck-in-thread", "stuck-at-limit", "stuck-with-handlers"]
        )
        func `The report of an overrun shows the stacks of its threads`(handler: String)
            async throws
        {
            try await withDaemon(
                try manifest(handler),
                adjust: {
                    durable(&$0)
                    // The usual 100 ms may not suffice on a busy machine, where the kill does without.
                    $0.timeouts.explain = 100_000_000_000
                }
            ) { daemon in
                let run = try await daemon.begin("task")
                try await daemon.line("here", LogFilter(run: run.id))
                raisePriority(of: try #require(run.pid))
                #expect(await daemon.host.expire(run: run.id))
                let record = try await daemon.end(of: run)
                #expect(record.outcome == .killed(.graceExceeded))
                let frames = record.details?.crash?.stacks.flatMap(\.frames) ?? []
                #expect(frames.contains { $0.contains("(stay_here+") }, "\(frames)")
                try await daemon.line("half a line", LogFilter(run: run.id))
            }
        }
    }
}

/// Has the threads of a worker scheduled before others, which takes root.
///
/// It has 80 ms to report their stacks, and on a busy machine a thread may wait for a processor for longer.
private func raisePriority(of worker: Int32) {
    let process = __priority_which_t(PRIO_PROCESS.rawValue)
    for thread in (try? File.list("/proc/\(worker)/task")) ?? [] {
        if let thread = id_t(thread) { setpriority(process, thread, -20) }
    }
}
