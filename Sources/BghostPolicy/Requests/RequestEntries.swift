// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel

extension PendingRequestIndex {
    /// The identifiers in use, each with a row.
    ///
    /// The row of an identifier that is forgotten is given to another one, so some rows are not in use.
    struct Entries: Sendable {
        var rows: [RequestRow] = []
        /// The number of waiting requests of all identifiers.
        private(set) var waitingTotal = 0
        private var kinds = KindTable()
        private var identifiers = IdentifierTable()
        private var extras: [Int: Extras] = [:]

        /// The number of identifiers.
        var count: Int { identifiers.count }

        /// The numbers of all rows, also of those that are not in use.
        var indices: Range<Int> { rows.indices }

        func isInUse(_ number: Int) -> Bool { rows[number].isInUse }

        /// The number of kinds in use: at most that of definitions with an identifier.
        var kindCount: Int { kinds.count }

        /// The kinds that an identifier has, in no order.
        var kindsInUse: some Collection<Kind> { kinds.all }

        subscript(number: Int) -> Entry {
            Entry(
                row: rows[number],
                kind: kinds[rows[number].kind],
                extras: extras(number),
                identifiers: identifiers,
                number: number
            )
        }

        mutating func reserve(_ count: Int) {
            rows.reserveCapacity(count)
            identifiers.reserve(count)
        }

        func number(of identifier: String) -> Int? { identifiers.number(of: identifier) }

        func kind(_ number: Int) -> Kind { kinds[rows[number].kind] }

        /// Returns the number of an identifier; a new one gets a row.
        mutating func enter(
            _ identifier: String,
            _ kind: () -> Kind
        ) -> (number: Int, isNew: Bool) {
            let (number, isNew) = identifiers.enter(identifier)
            guard isNew else { return (number, false) }
            let kind = kinds.add(kind())
            if number == rows.count {
                rows.append(RequestRow(kind: kind))
            } else {
                rows[number] = RequestRow(kind: kind, after: rows[number])
            }
            return (number, true)
        }

        /// Assigns another kind to an identifier.
        mutating func set(_ kind: Kind, of number: Int) {
            let former = rows[number].kind
            rows[number].kind = kinds.add(kind)
            kinds.remove(former)
        }

        /// Forgets an idle identifier; another one may get its number.
        mutating func release(_ number: Int) {
            kinds.remove(rows[number].kind)
            extras[number] = nil
            rows[number] = rows[number].released
            identifiers.remove(number)
        }

        /// Whether an identifier has neither a request nor a run.
        func isIdle(_ number: Int) -> Bool {
            rows[number].running == 0 && waitingCount(number) == 0
        }

        /// The number of waiting requests.
        func waitingCount(_ number: Int) -> Int {
            (rows[number].hasRequest ? 1 : 0) + (extras(number)?.waitingCount ?? 0)
        }

        // MARK: Requests

        func identifier(_ number: Int) -> String { identifiers[number] }

        func identifierLength(_ number: Int) -> Int { identifiers.length(number) }

        func hasRetries(_ number: Int) -> Bool { extras(number)?.retries.isEmpty == false }

        func hasAppended(_ number: Int) -> Bool { extras(number)?.appended.first != nil }

        mutating func setPending(_ request: Request, rank: UInt64, of number: Int) {
            let isNamed = identifiers.has(number, request.task)
            if !rows[number].hasRequest { waitingTotal += 1 }
            rows[number].setRequest(request, rank: rank, isNamed: isNamed)
        }

        mutating func removePending(of number: Int) {
            if rows[number].hasRequest { waitingTotal -= 1 }
            rows[number].removeRequest()
        }

        func pending(_ number: Int) -> Request? { rows[number].request { identifiers[number] } }

        func extras(_ number: Int) -> Extras? { rows[number].hasExtras ? extras[number] : nil }

        mutating func changeExtras(_ number: Int, _ change: (inout Extras) -> Void) {
            waitingTotal -= extras[number]?.waitingCount ?? 0
            change(&extras[number, default: Extras()])
            waitingTotal += extras[number]?.waitingCount ?? 0
            let isEmpty = extras[number]?.isEmpty ?? true
            if isEmpty { extras[number] = nil }
            rows[number].hasExtras = !isEmpty
        }

        /// The requirements of the requests of an identifier, besides those of its task.
        func requirements(_ number: Int) -> RequirementSet {
            let pending = rows[number].hasRequest ? rows[number].requirements : []
            guard let extras = extras(number) else { return pending }
            return (Array(extras.retries.all) + extras.appended.all).reduce(into: pending) {
                $0.formUnion($1.request.requirements)
            }
        }

        /// Whether an identifier has a request with an id in a range.
        func hasRequest(_ number: Int, in ids: ClosedRange<RunID>) -> Bool {
            if let id = rows[number].pendingID, ids.contains(id) { return true }
            guard let extras = extras(number) else { return false }
            return extras.retries.all.contains { ids.contains($0.request.id) }
                || extras.manual.contains { ids.contains($0.request.id) }
                || extras.appended.contains { ids.contains($0.request.id) }
        }

        // MARK: The next request

        /// Whether another run may start in addition to those in progress.
        func hasRoom(_ number: Int) -> Bool {
            rows[number].running == 0 || kind(number).overlap == .allow
        }

        /// A request that could start.
        struct Candidate {
            enum Source {
                case pending
                case retry(Int)
                case manual
                case appended
            }

            let source: Source
            let rank: UInt64
            let isMissed: Bool
        }

        /// The request that would start next if nothing blocked it: the oldest manual run, otherwise the due
        /// request with the lowest rank.
        ///
        /// Missed requests count as due, so that the caller receives and closes them. The cost is O(log n)
        /// in the retries of the identifier.
        mutating func nextCandidate(_ number: Int, now: Int64) -> Candidate? {
            guard rows[number].hasExtras else { return pendingCandidate(number, nil, now: now) }
            extras[number]?.retries.advance(to: now)
            let delayedUntil = extras[number]?.delayedUntil
            let hold = retriesDelayedUntil(number, delayedUntil)
            let slot = extras[number]?.retries.first(delayedUntil: hold)
            return candidate(number, extras[number], retry: slot, now: now)
        }

        /// The same for a question, which changes nothing: it looks at each retry of the identifier.
        func candidate(_ number: Int, now: Int64) -> Candidate? {
            guard var extras = extras(number) else {
                return pendingCandidate(number, nil, now: now)
            }
            extras.retries.advance(to: now)
            let hold = retriesDelayedUntil(number, extras.delayedUntil)
            let slot = extras.retries.first(delayedUntil: hold)
            return candidate(number, extras, retry: slot, now: now)
        }

        private func candidate(
            _ number: Int,
            _ extras: Extras?,
            retry slot: Int?,
            now: Int64
        ) -> Candidate? {
            if let first = extras?.manual.first {
                return Candidate(source: .manual, rank: first.rank, isMissed: false)
            }
            var pending = pendingCandidate(number, extras?.delayedUntil, now: now)
            if let extras, let appended = appendedCandidate(number, extras, now: now),
                appended.rank < pending?.rank ?? .max
            {
                pending = appended
            }
            guard let slot, let place = extras?.retries[slot],
                place.rank <= pending?.rank ?? .max
            else { return pending }
            return Candidate(
                source: .retry(slot),
                rank: place.rank,
                isMissed: place.dates.isMissed(now: now)
            )
        }

        /// Until when no retry of an identifier may start, Unix nanoseconds; `nil` if there is no hold.
        ///
        /// `skip` and `replace` decide about new requests. A retry is mostly older than the run in progress,
        /// so it waits for the end of that run, and new requests do not wait behind it.
        private func retriesDelayedUntil(_ number: Int, _ delayedUntil: Int64?) -> Int64? {
            switch kind(number).overlap {
            case .allow, .queue: delayedUntil
            case .replace, .skip: rows[number].running > 0 ? .max : delayedUntil
            }
        }

        private func pendingCandidate(
            _ number: Int,
            _ delayedUntil: Int64?,
            now: Int64
        ) -> Candidate? {
            guard let dates = rows[number].dates,
                dates.isDue(delayedUntil: delayedUntil, now: now)
            else { return nil }
            let isMissed = dates.isMissed(now: now)
            return Candidate(source: .pending, rank: rows[number].rank, isMissed: isMissed)
        }

        func request(_ candidate: Candidate, of number: Int) -> Request? {
            switch candidate.source {
            case .pending: pending(number)
            case .retry(let slot): extras[number]?.retries[slot]?.request
            case .manual: extras[number]?.manual.first?.request
            case .appended: extras[number]?.appended.first?.request
            }
        }

        /// The next date on which the state of this entry changes without an event.
        mutating func nextDate(_ number: Int, now: Int64) -> Int64? {
            guard rows[number].hasExtras else {
                return rows[number].dates?.nextDate(delayedUntil: nil, now: now)
            }
            let delayedUntil = extras[number]?.delayedUntil
            let dates = [rows[number].dates, extras[number]?.appended.first?.dates]
            let next = dates.compactMap { $0?.nextDate(delayedUntil: delayedUntil, now: now) }.min()
            extras[number]?.retries.advance(to: now)
            guard let date = extras[number]?.retries.nextDate(delayedUntil: delayedUntil) else {
                return next
            }
            return Swift.min(next ?? date, date)
        }
    }
}
