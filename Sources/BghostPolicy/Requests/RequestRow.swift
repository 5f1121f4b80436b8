// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel

/// The state of one identifier: its pending request and its place in the heaps.
///
/// The daemon may keep a million rows in memory, so a row has only 80 bytes, and rare properties are stored
/// elsewhere.
struct RequestRow: Sendable {
    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let hasRequest = Flags(rawValue: 1)
        static let hasEarliest = Flags(rawValue: 2)
        static let isOfManifest = Flags(rawValue: 4)
        static let isOfPlugin = Flags(rawValue: 8)
        static let isOfPluginEntry = Flags(rawValue: 16)
    }

    /// The parts of a request that do not fit into the row.
    private indirect enum Rest: Sendable {
        case parameters(String)
        case whole(Request)
    }

    private var id = RunID(high: 0, low: 0)
    private var submittedAt: Int64 = 0
    private var earliest: Int64 = 0
    private(set) var rank: UInt64 = 0
    /// The rank under which it is in its group's ready heap; `notQueued` if it is not.
    ///
    /// Other elements of the heap for this row are stale.
    var queuedRank = RequestRow.notQueued
    /// The date of its current alarm; `noAlarm` if it has none.
    ///
    /// Other alarms of the row in the heap are stale.
    var alarm = RequestRow.noAlarm
    private var rest: Rest?
    /// The index of its `Kind`.
    var kind: UInt32
    var running: UInt32 = 0
    /// The number of the row's last alarm; it distinguishes alarms with the same date.
    ///
    /// The count continues when another identifier gets the row.
    var alarms: UInt16 = 0
    private var priority: Int16 = 0
    private var requirementBits: UInt16 = 0
    private var flags: Flags = []
    /// Whether `Entries` has further requests or a hold for the identifier.
    var hasExtras = false

    /// Values that no rank and no alarm can have.
    static let notQueued = UInt64.max
    static let noAlarm: UInt64 = 0

    /// The `kind` of a row that no identifier uses.
    private static let unused = UInt32.max

    /// - Parameter former: the unused row in whose place it comes; `nil` for a new one.
    init(kind: UInt32, after former: RequestRow? = nil) {
        self.kind = kind
        alarms = former?.alarms ?? 0
    }

    /// Whether an identifier uses the row.
    var isInUse: Bool { kind != Self.unused }

    /// An unused row in the place of this one.
    var released: RequestRow { RequestRow(kind: Self.unused, after: self) }

    /// The heap token of the current alarm: the row's number and the alarm's number.
    func alarmToken(_ number: Int) -> UInt64 { UInt64(number) << 32 | UInt64(alarms) }

    // MARK: The pending request

    var hasRequest: Bool { flags.contains(.hasRequest) }

    /// Whether its request counts towards the quota: a plugin submitted it.
    var countsInQuota: Bool { hasRequest && flags.contains(.isOfPlugin) }

    /// Whether its request may have a submitter of this kind; `false` only if that is certain.
    func mayBe(from kind: Submitter.Kind) -> Bool {
        switch kind {
        case .operator: flags.isDisjoint(with: [.isOfManifest, .isOfPlugin])
        case .manifest: flags.contains(.isOfManifest)
        case .plugin: flags.contains(.isOfPlugin)
        // One that follows a run does not count towards the quota, and is stored whole.
        case .run: flags.contains(.isOfPlugin) || rest != nil
        }
    }

    /// Whether a plugin has added its identifier.
    var isOfPluginEntry: Bool {
        get { flags.contains(.isOfPluginEntry) }
        set { if newValue { flags.insert(.isOfPluginEntry) } }
    }

    /// The memory of its request that counts for its group, bytes.
    var heldBytes: Int {
        // `fits` is false for a plugin's request, so it is always stored whole.
        guard countsInQuota, case .whole(let request) = rest else { return 0 }
        return request.heldBytes
    }

    /// The requirements of its request; without a meaning if there is none.
    var requirements: RequirementSet { RequirementSet(rawValue: requirementBits) }

    var pendingID: RunID? { hasRequest ? id : nil }

    /// The dates between which its request may start; `nil` if there is no request.
    var dates: BeginDates? {
        guard hasRequest else { return nil }
        if case .whole(let request) = rest { return BeginDates(request) }
        return BeginDates(earliest: flags.contains(.hasEarliest) ? earliest : nil, latest: nil)
    }

    /// The pending request, rebuilt from the row; `nil` if there is none.
    ///
    /// - Parameter identifier: returns the task's identifier, unless the row stores the request whole.
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
            requirements: requirements,
            // A plugin's request is stored whole, because its submitter contains the run or the plugin.
            submitter: flags.contains(.isOfManifest) ? .manifest : .operator
        )
    }

    mutating func removeRequest() {
        flags.formIntersection(.isOfPluginEntry)
        rest = nil
    }

    /// - Parameter isNamed: whether the request's task is the row's identifier.
    mutating func setRequest(_ request: Request, rank: UInt64, isNamed: Bool) {
        id = request.id
        submittedAt = request.submittedAt
        self.rank = rank
        flags = flags.intersection(.isOfPluginEntry).union(.hasRequest)
        if request.submitter == .manifest { flags.insert(.isOfManifest) }
        if request.submitter.isPlugin { flags.insert(.isOfPlugin) }
        if let date = request.earliestBegin {
            earliest = date
            flags.insert(.hasEarliest)
        }
        requirementBits = request.requirements.rawValue
        priority = Int16(truncatingIfNeeded: request.priority)
        if !isNamed || !fits(request) {
            rest = .whole(request)
        } else {
            rest = request.parameters == "{}" ? nil : .parameters(request.parameters)
        }
    }

    private func fits(_ request: Request) -> Bool {
        switch request.submitter {
        case .operator, .manifest: break
        case .run, .plugin, .predecessor: return false
        }
        return request.latestBegin == nil && request.scheduledTime == nil && request.missed == nil
            && request.counters == AttemptCounters() && Int(priority) == request.priority
            && !request.isManual && request.tolerance == 0 && request.trace == nil
    }
}
