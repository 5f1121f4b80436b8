// SPDX-License-Identifier: Apache-2.0

internal import BghostServices

/// The executors of the daemon, by serial number.
///
/// The pool adds and removes them; others look them up, because an answer may come after the executor's
/// end. Use it on the reactor's thread only.
final class ExecutorTable {
    private var executors: [UInt32: any RunExecutor] = [:]
    private var workers: [UInt32: Worker] = [:]
    private var inProcess: [UInt32: InProcessExecutor] = [:]
    private var serials: SerialNumbers

    /// - Parameter last: the serial number before the first one.
    init(after last: UInt32) {
        serials = SerialNumbers(after: last)
    }

    /// The executor with this number; `nil` if it has ended.
    subscript(serial: UInt32) -> (any RunExecutor)? { executors[serial] }

    /// The worker with this number; `nil` if it has ended, or if that executor is in the daemon.
    func worker(_ serial: UInt32) -> Worker? { workers[serial] }

    /// The executor in the daemon with this number; `nil` if it has ended, or if it is a worker.
    func inProcess(_ serial: UInt32) -> InProcessExecutor? { inProcess[serial] }

    /// The workers of one version of a plugin.
    func workers(of plugin: PluginSlot) -> [Worker] {
        plugin.executors.keys.compactMap { workers[$0] }
    }

    /// All executors, in no order; a copy, so that the table may change meanwhile.
    var all: [any RunExecutor] { Array(executors.values) }

    var isEmpty: Bool { executors.isEmpty }

    /// A number that no current executor has.
    func nextSerial() -> UInt32 {
        serials.next { executors[$0] != nil }
    }

    /// Adds an executor of neither kind, for tests.
    func add(_ executor: any RunExecutor) { executors[executor.serial] = executor }

    /// Adds a worker.
    func add(worker: Worker) {
        executors[worker.serial] = worker
        workers[worker.serial] = worker
    }

    /// Adds an executor in the daemon.
    func add(inProcess executor: InProcessExecutor) {
        executors[executor.serial] = executor
        inProcess[executor.serial] = executor
    }

    /// Removes an executor that has ended.
    func remove(_ executor: any RunExecutor) {
        executors[executor.serial] = nil
        workers[executor.serial] = nil
        inProcess[executor.serial] = nil
    }
}
