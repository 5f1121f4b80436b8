// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostCalendar
internal import BghostFleetRules
package import BghostModel
internal import BghostPolicy
package import BghostServices
internal import BghostStore

/// The operator's commands for dead letters.
///
/// The host owns it. Use it on the reactor's thread only; another thread reads the store.
package final class DeadLetterCommands {
    /// The maximum number of dead letters per call, so that one call does not delay others for long.
    private static let lettersMax = 10_000
    /// A page, and the choice of one call, ends behind so many bytes of parameters.
    private static let parametersBytesMax = 16 << 20
    /// The most dead letters of one answer of the store; each has up to 64 KiB of parameters.
    private static let pieceMax = 250

    private let dispatcher: Dispatcher
    private let commits: CommitQueue
    private let history: HistoryReader
    private let clock: DaemonClock
    private let zone: () -> ZoneTable
    private let log: HostLog
    /// The dead letters that a command is redriving or discarding.
    private var changing: Set<RunID> = []

    package init(
        _ dispatcher: Dispatcher,
        _ commits: CommitQueue,
        _ history: HistoryReader,
        _ clock: DaemonClock,
        zone: @escaping () -> ZoneTable,
        log: HostLog
    ) {
        self.zone = zone
        self.dispatcher = dispatcher
        self.commits = commits
        self.history = history
        self.clock = clock
        self.log = log
    }

    /// A page of dead letters, the newest first.
    package nonisolated(nonsending) func deadLetters(
        _ question: DeadLetterQuestion
    ) async throws(OperatorRefusal) -> DeadLetterPage {
        var query = DeadLetterQuery(tasks: question.tasks, limit: question.limit)
        query.isOfPlugin = try dispatcher.taskCheck(ofPlugin: question.plugin)
        let zone = zone()
        if let since = question.since { query.since = try clock.past(since, of: "since", in: zone) }
        if let until = question.until { query.until = try clock.past(until, of: "until", in: zone) }
        if let cursor = question.cursor {
            guard case .dead(let diedAt, let run) = cursor else { throw .badCursor }
            query.after = .init(diedAt: diedAt, run: run)
        }
        let wanted = query
        var page = try await history.read { Self.page(wanted, of: $0) }
        // Those of the fleet that this host owns are in memory.
        if let fleet = commits.fleet, !fleet.dead.isEmpty {
            page.insert(fleet.dead.values.filter { wanted.matches($0) }, limit: wanted.limit)
            Self.shorten(&page)
        }
        return page
    }

    // MARK: Reading

    /// Reads a page in pieces, so that its memory is bounded however long the parameters are.
    ///
    /// - Parameters:
    ///   - isSearch: whether it goes on behind rows that the query leaves out; with as many letters as its limit
    ///     there are more.
    ///   - isWanted: which letters the page gets; the limit counts the others, too.
    private static func page(
        _ query: DeadLetterQuery,
        of store: any Store,
        isSearch: Bool = false,
        where isWanted: (DeadLetter) -> Bool = { _ in true }
    ) -> DeadLetterPage {
        var (page, piece, left) = (DeadLetterPage(), query, query.limit)
        while left > 0 {
            piece.limit = min(left, pieceMax)
            let found = store.deadLetters(piece)
            page.letters += found.letters.filter(isWanted)
            page.next = found.next
            if shorten(&page) { break }
            left -= found.letters.count
            if isSearch, left <= 0 { page.next = found.letters.last.map { .init($0) } }
            // A piece that has read the most rows ends earlier.
            guard let next = found.next, isSearch || found.letters.count == piece.limit else {
                break
            }
            piece.after = next
        }
        return page
    }

    /// Ends a page behind the most bytes of parameters.
    ///
    /// - Returns: whether the page has as many.
    @discardableResult
    private static func shorten(_ page: inout DeadLetterPage) -> Bool {
        var room = parametersBytesMax
        let end = page.letters.firstIndex { letter in
            room -= letter.request.parameters.utf8.count
            return room <= 0
        }
        guard let end else { return false }
        if end + 1 < page.letters.count {
            page.next = DeadLetterQuery.Place(page.letters[end])
            page.letters.removeSubrange((end + 1)...)
        }
        return true
    }

    // MARK: Changing

    /// Submits dead requests again, and returns when that is stored.
    ///
    /// - Parameter expected: the number of dead letters that there must be; `nil`: any.
    package nonisolated(nonsending) func redrive(
        _ choice: DeadLetterChoice,
        expected: Int?
    ) async throws(OperatorRefusal) -> DeadLetterChange {
        let (letters, chosen) = try await choose(choice, expected: expected)
        defer { changing.subtract(letters.map(\.request.id)) }
        var answer = chosen
        let now = clock.wall
        var redriven: [Request] = []
        for letter in letters {
            let item = DeadLetterChange.Item(id: letter.request.id, task: letter.request.task)
            guard dispatcher.scheduler.catalog.task(for: letter.request.task) != nil else {
                answer.refused.append(item)
                continue
            }
            answer.done.append(item)
            redriven.append(letter.request.redriven(now: now))
        }
        guard !redriven.isEmpty else { return answer }
        if case .failure(let error) = await commits.committedOrRefused(
            commits.audited(redriven.map { .redriven($0) })
        ) {
            throw OperatorRefusal(
                .storeFailed,
                "nothing is redriven, since it could not be stored: \(error.message)",
                fix: "check the disk, then repeat the command"
            )
        }
        dispatcher.decide { [redriven] scheduler, now, effects in
            scheduler.redriven(redriven, now: now, &effects)
        }
        return answer
    }

    /// Deletes dead requests, and returns when that is stored.
    ///
    /// - Parameter expected: the number of dead letters that there must be; `nil`: any.
    package nonisolated(nonsending) func discard(
        _ choice: DeadLetterChoice,
        expected: Int?
    ) async throws(OperatorRefusal) -> DeadLetterChange {
        let (letters, chosen) = try await choose(choice, expected: expected)
        defer { changing.subtract(letters.map(\.request.id)) }
        var answer = chosen
        guard !letters.isEmpty else { return answer }
        if case .failure(let error) = await commits.committedOrRefused(
            commits.audited(letters.map { .discarded($0.request.id) })
        ) {
            throw OperatorRefusal(
                .storeFailed,
                "nothing is discarded, since it could not be stored: \(error.message)",
                fix: "check the disk, then repeat the command"
            )
        }
        for letter in letters {
            let request = letter.request
            answer.done.append(.init(id: request.id, task: request.task))
            log.write(.info, "request.discarded", "\(request.id)", task: request.task)
        }
        return answer
    }

    /// The dead letters that a command selects, up to the maximum per call.
    ///
    /// No other command gets them until the caller removes them from `changing`.
    private nonisolated(nonsending) func choose(
        _ choice: DeadLetterChoice,
        expected: Int?
    ) async throws(OperatorRefusal) -> (letters: [DeadLetter], answer: DeadLetterChange) {
        let task: String? = if case .task(let task) = choice { task } else { nil }
        let wanted = if case .request(let prefix) = choice { prefix.uppercased() } else { "" }
        let query = DeadLetterQuery(tasks: task.map { .task($0) }, limit: Self.lettersMax + 1)
        let page = try await history.read { store in
            Self.page(query, of: store, isSearch: true) {
                wanted.isEmpty || $0.request.id.description.hasPrefix(wanted)
            }
        }
        var letters = page.letters
        let hasMore = page.next != nil
        // Another command may have changed some while the store was asked, or is changing them.
        letters.removeAll { !commits.deadLetters.contains($0.request.id) }
        let owned = commits.fleet?.dead.values.filter { task == nil || $0.request.task == task }
        letters += owned?.sorted { $0.diedAt > $1.diedAt } ?? []
        letters.removeAll { changing.contains($0.request.id) }
        let chosen = try Self.chosen(choice, letters, hasMore: hasMore)
        if let expected {
            // Nothing can change between this look and the change: no other command gets the chosen ones.
            let found = chosen.answer.hasMore ? total(of: task) : chosen.letters.count
            guard found == expected else {
                throw .countChanged(
                    "dead letter",
                    expected: expected,
                    found: found,
                    listing: "bghost dead"
                )
            }
        }
        changing.formUnion(chosen.letters.map(\.request.id))
        return chosen
    }

    /// The number of dead letters of a task, or of all tasks, also of those beyond the maximum per call.
    private func total(of task: String?) -> Int {
        let owned = commits.fleet?.dead.values.count { task == nil || $0.request.task == task } ?? 0
        guard let task else { return commits.deadLetters.count + owned }
        return (commits.deadLetters.tasks[task] ?? 0) + owned
    }

    private static func chosen(
        _ choice: DeadLetterChoice,
        _ letters: [DeadLetter],
        hasMore: Bool
    ) throws(OperatorRefusal) -> (letters: [DeadLetter], answer: DeadLetterChange) {
        var letters = Array(letters.prefix(lettersMax))
        var answer = DeadLetterChange()
        answer.hasMore = hasMore
        guard case .request(let prefix) = choice else { return (letters, answer) }
        let wanted = prefix.uppercased()
        letters.removeAll { !$0.request.id.description.hasPrefix(wanted) }
        let shown = PrintableText.escaped(String(prefix.prefix(40)))
        guard let first = letters.first else {
            let newest = answer.hasMore ? " among the \(Self.lettersMax) newest" : ""
            throw OperatorRefusal(
                .noSuchRequest,
                "there is no dead letter\(newest) whose request has an id that begins with \(shown)",
                fix: "bghost dead lists them"
            )
        }
        guard letters.count == 1 else {
            throw OperatorRefusal(
                .ambiguousRequest,
                "\(letters.count) dead letters have an id that begins with \(shown)",
                fix: "give more characters",
                candidates: letters.prefix(8).map { "\($0.request.id) \($0.request.task)" }
            )
        }
        answer.hasMore = false
        return ([first], answer)
    }
}
