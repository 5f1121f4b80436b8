// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostServices
internal import BghostWire

/// Sends the replies to calls of plugins, and logs refused calls.
///
/// The host owns it. Use it on the reactor's thread only; it does not block.
final class CallReplies {
    typealias Sender = (Reply, any RunExecutor, HeldShare?) -> Void

    private let executors: ExecutorTable
    private let runs: RunTable
    private let clock: DaemonClock
    private let log: HostLog
    private var sender: Sender = { _, _, _ in }

    init(_ executors: ExecutorTable, _ runs: RunTable, _ clock: DaemonClock, log: HostLog) {
        self.executors = executors
        self.runs = runs
        self.clock = clock
        self.log = log
    }

    /// - Parameter sender: sends a reply; the share counts the memory of a fetched body.
    func begin(sender: @escaping Sender) { self.sender = sender }

    /// Sends a reply.
    ///
    /// - Parameter share: counts the memory of a fetched body.
    func send(_ reply: Reply, to executor: any RunExecutor, holding share: HeldShare? = nil) {
        sender(reply, executor, share)
    }

    /// Replies with a status and nothing else.
    func answer(_ call: Call, _ executor: any RunExecutor, _ status: Int32) {
        send(Reply(call: call.number, status: status), to: executor)
    }

    /// Replies with a status, and logs why.
    func refuse(_ call: Call, _ executor: any RunExecutor, _ status: Int32, _ why: String) {
        // Count this line against the worker's own rate limit, so that refused calls cannot bypass it.
        if executor.mayReport(now: clock.monotonic) {
            let record = runs.run(call.run)?.record
            log.write(
                .warning,
                "call.refused",
                why,
                task: record?.task,
                plugin: executor.plugin.name,
                run: record?.id,
                trace: record?.trace
            )
        }
        answer(call, executor, status)
    }

    // MARK: Later replies

    /// Counts a call as open until ``close(_:)``.
    func open(_ executor: any RunExecutor) { executor.openCalls += 1 }

    /// Ends an open call.
    ///
    /// - Returns: the executor; `nil` if it has ended, so that no reply is possible.
    func close(_ serial: UInt32) -> (any RunExecutor)? {
        guard let executor = executors[serial] else { return nil }
        close(executor)
        return executor
    }

    /// Ends an open call of an executor.
    func close(_ executor: any RunExecutor) { executor.openCalls -= 1 }
}
