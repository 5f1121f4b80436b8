// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
import BghostHost
import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// A run that a debugger stops for longer than its runtime.
    @Suite(.enabled(if: geteuid() == 0, "tracing a worker needs root"))
    struct DebuggerTests {
        /// Traces a process without stopping it, from a thread of its own as the kernel wants it.
        private final class Tracer: Sendable {
            private let stop: Int32
            private let stopped: Int32

            /// - Returns: `nil` if the kernel does not let it.
            init?(_ pid: Int32) async {
                var ends: [Int32] = [-1, -1]
                guard pipe(&ends) == 0 else { return nil }
                for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
                (stopped, stop) = (ends[0], ends[1])
                let end = stopped
                let isTracing = await withCheckedContinuation { continuation in
                    Self.begin {
                        let isTracing = Self.trace(Self.seize, pid) == 0
                        continuation.resume(returning: isTracing)
                        var byte: UInt8 = 0
                        // The trace ends with its thread.
                        _ = read(end, &byte, 1)
                    }
                }
                guard isTracing else { return nil }
            }

            deinit {
                close(stop)
                close(stopped)
            }

            /// Lets go of it.
            func end() { _ = write(stop, [0], 1) }

            private static let seize: Int32 = 0x4206

            /// The importer hides what takes any number of arguments.
            private static func trace(_ request: Int32, _ pid: Int32) -> Int {
                typealias Trace = @convention(c) (Int32, Int32, Int, Int) -> Int
                guard let symbol = dlsym(nil, "ptrace") else { return -1 }
                return unsafeBitCast(symbol, to: Trace.self)(request, pid, 0, 0)
            }

            private static func begin(_ body: @escaping @Sendable () -> Void) {
                var thread = pthread_t()
                let box = Unmanaged.passRetained(Body(body)).toOpaque()
                pthread_create(
                    &thread,
                    nil,
                    { box in
                        if let box { Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run() }
                        return nil
                    },
                    box
                )
                pthread_detach(thread)
            }

            private final class Body: Sendable {
                let run: @Sendable () -> Void

                init(_ run: @escaping @Sendable () -> Void) { self.run = run }
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: [true, false])
        func `With --dev a run under a debugger has no runtime limit`(allowsUntrustedFiles: Bool)
            async throws
        {
            let manifest = try TestManifest.misbehave(
                runtime: .milliseconds(600),
                only: ["honour-cancel", "sleep-forever"]
            )
            try await withDaemon(
                manifest,
                adjust: { $0.allowsUntrustedFiles = allowsUntrustedFiles }
            ) { daemon in
                // Traced before its run begins, since on a busy machine its time can be over before it is.
                let pid = try #require(try await daemon.run("succeed").pid)
                let tracer = try #require(await Tracer(pid))
                let run = try await daemon.begin("honour-cancel")
                try #require(run.pid == pid)
                if allowsUntrustedFiles {
                    // Three times as long as its own time.
                    for _ in 0..<3 {
                        let other = try await daemon.run("sleep-forever")
                        #expect(other.outcome == .killed(.graceExceeded))
                    }
                    let state = await daemon.host.runs(task: "honour-cancel", limit: 1).first?.state
                    #expect(state == .running)
                    tracer.end()
                }
                // Without --dev it ends although it is traced.
                let end = try await daemon.end(of: run)
                #expect(end.outcome == .cancelledClean && end.stopReason == .expired)
                if allowsUntrustedFiles {
                    #expect(try #require(end.duration) > .milliseconds(1800))
                }
                tracer.end()
            }
        }
    }
}
