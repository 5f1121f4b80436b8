// SPDX-License-Identifier: Apache-2.0

/// What the book keeps of one identifier: its pending request, and where it stands in the heaps.
///
/// A million of them are in memory, so it is 80 bytes, and what few requests have lies elsewhere.
struct RequestRow: Sendable {
    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let hasRequest = Flags(rawValue: 1)
        static let hasEarliest = Flags(rawValue: 2)
        static let isOfManifest = Flags(rawValue: 4)
    }

    /// What does not fit into the row.
    private indirect enum Rest: Sendable {
        case parameters(String)
        case whole(Request)
    }

    private var id = RunID(high: 0, low: 0)
    private var submittedAt: Int64 = 0
    private var earliest: Int64 = 0
    private(set) var rank: UInt64 = 0
    /// The rank under which it stands in its group's ready heap, others of it there are stale;
    /// `noTicket` if it does not.
    var ticket = RequestRow.noTicket
    /// The date for which it waits, others of it in the heap are stale; `noAlarm` if it does not.
    var alarm = RequestRow.noAlarm
    private var rest: Rest?
    /// The number of its kind.
    var kind: UInt32
    var running: UInt32 = 0
    /// Tells the alarms of one row apart, also when they are for the same date.
    var alarms: UInt16 = 0
    private var priority: Int16 = 0
    private var requirements: UInt16 = 0
    private var flags: Flags = []
    /// Whether there are requests or dates besides.
    var hasExtras = false

    /// No rank is as high, and no date as low.
    static let noTicket = UInt64.max
    static let noAlarm: UInt64 = 0

    init(kind: UInt32) { self.kind = kind }

    /// The token of its alarm.
    func alarmToken(_ number: Int) -> UInt64 { UInt64(number) << 32 | UInt64(alarms) }

    // MARK: The pending request

    var hasRequest: Bool { flags.contains(.hasRequest) }

    /// Whether its request counts towards the quota: one that somebody submitted.
    var countsInQuota: Bool { hasRequest && !flags.contains(.isOfManifest) }

    var pendingID: RunID? { hasRequest ? id : nil }

    /// When its request may begin; `nil` if there is none.
    var dates: BeginDates? {
        guard hasRequest else { return nil }
        if case .whole(let request) = rest { return BeginDates(request) }
        return BeginDates(earliest: flags.contains(.hasEarliest) ? earliest : nil, latest: nil)
    }

    /// - Parameter identifier: is asked for if the row does not say itself.
    func request(_ identifier: () -> String) -> Request? {
        guard hasRequest else { return nil }
        var parameters = "{}"
        switch rest {
        case .whole(let request): return request
        case .parameters(let text): parameters = text
        case nil: break
        }
        return Request(
            id: id,
            task: identifier(),
            parameters: parameters,
            submittedAt: submittedAt,
            earliestBegin: flags.contains(.hasEarliest) ? earliest : nil,
            priority: Int(priority),
            requirements: RequirementSet(rawValue: requirements),
            submitter: flags.contains(.isOfManifest) ? .manifest : .operator
        )
    }

    mutating func removeRequest() {
        flags = []
        rest = nil
    }

    /// - Parameter isNamed: whether the request's task is the row's identifier.
    mutating func setRequest(_ request: Request, rank: UInt64, isNamed: Bool) {
        id = request.id
        submittedAt = request.submittedAt
        self.rank = rank
        flags = .hasRequest
        if request.submitter == .manifest { flags.insert(.isOfManifest) }
        if let date = request.earliestBegin {
            earliest = date
            flags.insert(.hasEarliest)
        }
        requirements = request.requirements.rawValue
        priority = Int16(truncatingIfNeeded: request.priority)
        if !isNamed || !fits(request) {
            rest = .whole(request)
        } else {
            rest = request.parameters == "{}" ? nil : .parameters(request.parameters)
        }
    }

    private func fits(_ request: Request) -> Bool {
        if case .run = request.submitter { return false }
        return request.latestBegin == nil && request.slot == nil && request.missed == nil
            && request.counters == AttemptCounters() && Int(priority) == request.priority
            && !request.isSimulated && request.tolerance == 0
    }
}
