// SPDX-License-Identifier: Apache-2.0

/// The executors of the daemon, by serial number.
///
/// The pool adds and removes them; others look them up, because an answer may come after the executor's
/// end. Use it on the reactor's thread only.
final class ExecutorTable {
    private var executors: [UInt32: RunExecutor] = [:]
    private var serials: SerialNumbers

    /// - Parameter last: the serial number before the first one.
    init(after last: UInt32) {
        serials = SerialNumbers(after: last)
    }

    /// The executor with this number; `nil` if it has ended.
    subscript(serial: UInt32) -> RunExecutor? { executors[serial] }

    /// All executors, in no order; a copy, so that the table may change meanwhile.
    var all: [RunExecutor] { Array(executors.values) }

    var isEmpty: Bool { executors.isEmpty }

    /// A number that no current executor has.
    func nextSerial() -> UInt32 {
        serials.next { executors[$0] != nil }
    }

    /// Adds an executor under its serial number.
    func add(_ executor: RunExecutor) { executors[executor.serial] = executor }

    /// Removes an executor that has ended.
    func remove(_ executor: RunExecutor) { executors[executor.serial] = nil }
}
