// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostModel
internal import BghostPolicy
package import BghostServices
internal import BghostStore

/// The operator's commands for pending requests and throttled tasks.
///
/// The host owns it. Use it on the reactor's thread only; it does not block. Long lists are read in pages,
/// between which deadlines and frames of workers are handled.
package final class TaskCommands {
    /// The limit for the parameters in one answer, bytes; the page ends behind it.
    private static let pendingBytesMax = 16 << 20
    /// The most identifiers that one answer looks at; the page ends behind them.
    static let visitsMax = 131_072

    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let describer: RequestDescriber
    private let clock: DaemonClock
    /// The number of manifests that were in force before.
    private let reloads: () -> Int
    /// Tells the cursors of this daemon from those of one before, which had other rows.
    private let identity = UInt64.random(in: 0...UInt64(UInt32.max)) << 32

    /// - Parameter reloads: the number of manifests that were in force before.
    package init(
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ describer: RequestDescriber,
        _ clock: DaemonClock,
        reloads: @escaping () -> Int
    ) {
        self.reloads = reloads
        self.dispatcher = dispatcher
        self.commits = commits
        self.describer = describer
        self.clock = clock
    }

    // MARK: Pending requests

    /// A page of the pending requests.
    ///
    /// It costs what its requests cost, and a look at ``visitsMax`` identifiers at most.
    package nonisolated(nonsending) func pending(
        _ question: PendingQuestion
    ) async throws(OperatorRefusal) -> PendingList {
        let query = Scheduler.WaitingQuery(
            tasks: question.tasks,
            plugin: question.plugin,
            submitter: question.submitter,
            tag: question.tag
        )
        if let plugin = question.plugin, !dispatcher.scheduler.catalog.hasPlugin(plugin) {
            throw dispatcher.noSuchPlugin(plugin)
        }
        if let tag = question.tag { _ = try dispatcher.tasks(taggedWith: tag) }
        var generation = generation
        var place: Scheduler.WaitingPlace? = try start(of: question.cursor, generation)
        var list = PendingList(requests: [], total: nil)
        var room = Self.pendingBytesMax
        var visits = 0
        while let from = place, list.requests.count < question.limit, room > 0,
            visits < Self.visitsMax
        {
            let left = question.limit - list.requests.count
            let found = dispatcher.scheduler.waiting(query, from: from, limit: left, bytes: room)
            guard self.generation == generation else {
                guard question.cursor == nil else { throw Self.stale }
                // The order has changed between two parts of the first page.
                (generation, place) = (self.generation, .start)
                list.requests = []
                (room, visits) = (Self.pendingBytesMax, visits + 1)
                continue
            }
            list.requests += found.requests.map { describer.describe($0) }
            room -= found.parameterBytes
            visits += found.visited + 1
            place = found.next
            if place != nil { await Task.yield() }
        }
        list.next = place.map {
            PageCursor.pending(generation: generation, place: $0.row, id: $0.id).text
        }
        let isWhole = question.cursor == nil && place == nil
        list.total =
            isWhole ? list.requests.count : dispatcher.scheduler.waitingCount(query)
        return list
    }

    private var generation: UInt64 { identity | UInt64(UInt32(truncatingIfNeeded: reloads())) }

    private func start(
        of cursor: PageCursor?,
        _ generation: UInt64
    ) throws(OperatorRefusal) -> Scheduler.WaitingPlace {
        guard let cursor else { return .start }
        guard case .pending(let made, let row, let id) = cursor else { throw .badCursor }
        guard made == generation else { throw Self.stale }
        return Scheduler.WaitingPlace(row: row, id: id)
    }

    private static let stale = OperatorRefusal(
        .staleCursor,
        "the list has another order since its page before was made: the daemon restarted, or took up"
            + " another manifest",
        fix: "ask for the first page again, without a cursor"
    )

    /// Withdraws the pending requests of some tasks, and returns when that is stored.
    ///
    /// - Parameter expected: the number of requests that must wait at the beginning; `nil`: any. Those that
    ///   arrive while several pages are withdrawn are withdrawn with them.
    package nonisolated(nonsending) func cancelPending(
        _ which: Withdrawal,
        expected: Int?
    ) async throws(OperatorRefusal) -> [PendingRequest] {
        let selection: Scheduler.WaitingSelection
        switch which {
        case .all: selection = .all
        case .task(let task): selection = .task(task)
        case .tag(let tag):
            _ = try dispatcher.tasks(taggedWith: tag)
            selection = .tag(tag)
        }
        var described: [PendingRequest] = []
        var failure: StoreError?
        var start: Int? = 0
        await Task.yield()
        // Of one page, nothing is submitted between this and the withdrawal.
        if let expected {
            let all = which == .all ? dispatcher.scheduler.waitingCount(.init()) : nil
            let found = if let all { all } else { await waitingCount(selection) }
            guard found == expected else {
                throw .countChanged(
                    "pending request",
                    expected: expected,
                    found: found,
                    listing: "bghost pending"
                )
            }
        }
        while let from = start {
            let page = dispatcher.scheduler.waiting(selection, from: from, keeping: .max)
            guard !page.requests.isEmpty else {
                start = page.next
                await Task.yield()
                continue
            }
            described += page.requests.map { describer.describe($0) }
            if case .failure(let error) = await withdraw(Set(page.requests.map(\.task)).sorted()) {
                failure = failure ?? error
            }
            start = page.next
            await Task.yield()
        }
        if let failure {
            throw .notStored(failure, "withdrawn: " + CountText.of(described.count, "request"))
        }
        return described
    }

    /// The number of waiting requests that a selection contains.
    private nonisolated(nonsending) func waitingCount(
        _ selection: Scheduler.WaitingSelection
    ) async -> Int {
        var count = 0
        var start: Int? = 0
        while let from = start {
            let page = dispatcher.scheduler.waiting(selection, from: from, keeping: 0)
            count += page.count
            start = page.next
            if start != nil { await Task.yield() }
        }
        return count
    }

    /// Withdraws the waiting requests of tasks, and returns when that is stored or the store fails.
    private nonisolated(nonsending) func withdraw(
        _ tasks: [String]
    ) async -> Result<Void, StoreError> {
        await withCheckedContinuation { continuation in
            let (withdrawn, effects) = dispatcher.propose { scheduler, now, effects in
                scheduler.withdrawAll(of: tasks, now: now, &effects)
            }
            commits.commitOrReport(commits.audited(withdrawn.changes)) {
                continuation.resume(returning: $0)
            }
            // Carry out the effects afterwards, so that the next request of a schedule is stored
            // after the withdrawal.
            dispatcher.execute(effects)
        }
    }

    // MARK: Throttling

    /// The throttle points of a task, or of all tasks that have some.
    ///
    /// The cost is O(1) for one task, and O(tasks with points) for all, in parts.
    package nonisolated(nonsending) func throttles(task: String?) async -> [ThrottleStatus] {
        let now = clock.wall
        if let task {
            return dispatcher.scheduler.memories(of: task).map { throttle($0, now: now) }
        }
        let rows = dispatcher.scheduler.throttledRows
        var statuses: [ThrottleStatus] = []
        for start in stride(from: 0, to: rows.count, by: ListOrder.partMax) {
            if start > 0 { await Task.yield() }
            let part = rows[start...].prefix(ListOrder.partMax)
            for memory in dispatcher.scheduler.throttled(part)
            where memory.throttle.points(now: now) > 0 {
                statuses.append(throttle(memory, now: now))
            }
        }
        return await ListOrder.sorted(statuses, by: { $0.task })
    }

    private func throttle(_ memory: TaskMemory, now: Int64) -> ThrottleStatus {
        ThrottleStatus(
            task: memory.identifier,
            memory.throttle,
            dispatcher.scheduler.throttlePolicy(of: memory.identifier),
            now: now
        )
    }

    /// Clears the throttle points of a task, and returns when that is stored.
    ///
    /// - Returns: the points before.
    package nonisolated(nonsending) func clearThrottle(
        task: String
    ) async throws(OperatorRefusal) -> ThrottleStatus {
        guard let memory = dispatcher.scheduler.memories(of: task).first else {
            return ThrottleStatus(task: task)
        }
        let before = throttle(memory, now: clock.wall)
        let change = dispatcher.decide { scheduler, now, effects in
            scheduler.clearThrottle(task, now: now, &effects)
        }
        guard let change else { return before }
        try await commits.store([change], "the throttle points of \(task) are cleared")
        return before
    }
}
