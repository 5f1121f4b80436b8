// SPDX-License-Identifier: Apache-2.0

import BghostPlugin
import CBghost
import Glibc
import Synchronization
import Testing

/// Another thread of the plugin logs, or reports a step, while its run ends.
@Suite(.timeLimit(.minutes(5))) struct LateReportTests {
    enum Kind: Sendable, CaseIterable { case line, step }

    /// Repairing it takes a while, during which the run ends.
    private static let text = [CChar](repeating: -1, count: 8 << 10)

    private static func report(_ kind: Kind, _ runtime: PluginRuntime, _ run: bg_run) -> bg_status {
        let host = runtime.table
        return text.withUnsafeBufferPointer { bytes in
            let text = bg_str(ptr: bytes.baseAddress, len: bytes.count)
            return switch kind {
            case .line: host.pointee.log(host, run, 2, text)
            case .step: host.pointee.progress(host, run, 1, 2, text)
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `No report about a run follows its release`(kind: Kind) async throws {
        let (plugin, runtime) = try CompiledPlugin.started()
        for number in UInt64(2)..<200 {
            let run = CompiledPlugin.run * number + 1
            try #require(runtime.start(plugin.order(number: number, slot: 1)))
            let before = plugin.log.withLock { $0.logs + $0.phases.count }
            async let last = Self.untilRefused(kind, runtime, run)
            while plugin.log.withLock({ $0.logs + $0.phases.count }) == before {
                await Task.yield()
            }
            var result = bg_result()
            result.size = UInt32(MemoryLayout<bg_result>.size)
            #expect(runtime.table.pointee.complete(runtime.table, run, &result) == BG_OK)
            #expect(await last == BG_E_STALE)
        }
        #expect(plugin.log.withLock { $0.released.count } == 198)
        #expect(plugin.log.withLock { $0.reportedLate } == [])
    }

    /// Reports on a thread of the plugin until the host refuses it, and returns why.
    private static func untilRefused(
        _ kind: Kind,
        _ runtime: PluginRuntime,
        _ run: bg_run
    ) async -> bg_status {
        await withCheckedContinuation { continuation in
            let reporter = Reporter {
                while true {
                    let status = report(kind, runtime, run)
                    if status != BG_OK { return continuation.resume(returning: status) }
                }
            }
            reporter.start()
        }
    }

    /// A thread of its own: one of the pool's would leave none for the test.
    private final class Reporter: Sendable {
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) {
            self.body = body
        }

        func start() {
            var thread = pthread_t()
            let reporter = Unmanaged.passRetained(self).toOpaque()
            let error = pthread_create(
                &thread,
                nil,
                { argument in
                    if let argument {
                        Unmanaged<Reporter>.fromOpaque(argument).takeRetainedValue().body()
                    }
                    return nil
                },
                reporter
            )
            precondition(error == 0, "no thread can be made")
            pthread_detach(thread)
        }
    }
}
