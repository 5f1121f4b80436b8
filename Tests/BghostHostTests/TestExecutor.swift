// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostHost
import BghostLinux
import BghostModel
@testable import BghostServices
import BghostTestSupport
import BghostWire

/// An executor that records its calls; the test plays the plugin.
final class TestExecutor: RunExecutor {
    let slots: ExecutorSlots
    var started: [Start] = []
    var cancelled: [Cancel] = []
    var replies: [Reply] = []
    var measured = 0
    var isKilled = false
    var isAskedToFinish = false
    var hasExceededOutput = false

    init(serial: UInt32, plugin: PluginSlot, slotCount: Int) {
        slots = ExecutorSlots(serial: serial, plugin: plugin, slotCount: slotCount)
    }

    var pid: Int32? { nil }
    var isProcess: Bool { true }
    var newestRun: (id: RunID?, task: String?) { (nil, nil) }

    func start(_ start: Start) -> Bool {
        started.append(start)
        return true
    }

    func cancel(_ cancel: Cancel) { cancelled.append(cancel) }
    func reply(_ reply: Reply, holding share: HeldShare?) { replies.append(reply) }
    func measure(_ run: ActiveRun, now: MonotonicInstant) { measured += 1 }
    func kill(_ pool: WorkerPool) { isKilled = true }

    func isStartUnsent(_ run: UInt64) -> Bool { false }
    func mayReport(now: MonotonicInstant) -> Bool { true }
    func wasSent(_ run: RunRecord, _ pool: WorkerPool) {}
    func beginMeasuring(_ run: ActiveRun, now: MonotonicInstant) {}
    func sampleMemory() {}
    func wasReleased() {}
    func hasLeftProcesses(after lasted: Duration?) -> Bool { false }
    func becameIdle(_ pool: WorkerPool) {}
    func finish(_ pool: WorkerPool) { isAskedToFinish = true }
    func willKill(for reason: KillReason, _ pool: WorkerPool) -> Bool { false }
    func exceededOutput(_ pool: WorkerPool) { hasExceededOutput = true }
    func didReply(_ pool: WorkerPool) {}
    func pin(to core: ProcessorSet, from everywhere: ProcessorSet) -> Bool { false }
    func unpin(from core: ProcessorSet, to everywhere: ProcessorSet) {}
}
