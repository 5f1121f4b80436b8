// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The newest lines of a log, limited in number and in bytes.
///
/// Each plugin and each of its tasks has a share, and so has the daemon. When there is no more room, the
/// largest share loses its oldest line: who writes much drops its own old lines and not those of others. The
/// daemon's lines keep a quarter at least.
///
/// A line costs O(1), amortized: the largest share is searched for again only when it has lost a 64th of all
/// room. The memory is bounded by `bytesMax`, each line counting as 256 bytes besides its text.
struct LogRing {
    /// Whose lines share a part of the memory.
    private enum Origin: Hashable {
        case daemon
        case plugin(String)
        /// Plugins beyond the limit.
        case others
    }

    private struct Slot {
        let sequence: UInt64
        /// The line; `nil` if it was dropped.
        var entry: LogEntry?
    }

    /// The lines of one origin about one subject: of a plugin its task, of the daemon the plugin.
    private struct Queue {
        /// The sequence numbers of the lines, from index `first` on.
        private var sequences: [UInt64] = []
        private var first = 0
        var cost = 0
        private(set) var dropped = 0
        private(set) var lastDropped: UInt64 = 0
        private(set) var lastDroppedTime: Int64 = 0

        var oldest: UInt64? { first < sequences.count ? sequences[first] : nil }

        mutating func append(_ sequence: UInt64, _ cost: Int) {
            sequences.append(sequence)
            self.cost += cost
        }

        mutating func dropFirst(_ cost: Int, time: Int64) {
            lastDropped = sequences[first]
            lastDroppedTime = time
            dropped += 1
            self.cost -= cost
            first += 1
            guard first > 64, first > sequences.count / 2 else { return }
            sequences.removeFirst(first)
            first = 0
        }
    }

    /// The lines of one origin.
    private struct Share {
        var cost = 0
        var queues: [String: Queue] = [:]
        /// The queue that loses lines, until its cost is at most `floor`.
        private var victim = ""
        private var floor = Int.max

        /// The name of a queue for a new line.
        func name(_ wanted: String) -> String {
            queues[wanted] != nil || queues.count < LogRing.queuesMax ? wanted : ""
        }

        /// The largest queue, or one that was the largest shortly before.
        mutating func largest(slack: Int) -> String {
            if let cost = queues[victim]?.cost, cost > floor { return victim }
            var most = -1
            for (name, queue) in queues where queue.cost > most {
                (victim, most) = (name, queue.cost)
            }
            floor = max(0, most - slack)
            return victim
        }
    }

    /// The most plugins, and the most tasks of a plugin, with a share of their own.
    private static let sharesMax = 256
    fileprivate static let queuesMax = 64
    /// The most notes about dropped lines in one answer, for each share.
    private static let gapsMax = 256
    /// Overhead of a line in bytes, without its text.
    private static let lineCost = 256

    private let costMax: Int
    /// The least cost of a line, so that the limit of bytes limits their number too.
    private let costMin: Int
    /// The lines by sequence number, from index `head` on.
    private var slots: [Slot] = []
    private var head = 0
    private var lines = 0
    private var cost = 0
    private var shares: [Origin: Share] = [:]
    /// The share that loses lines, until its cost is at most `floor`.
    private var victim = Origin.daemon
    private var floor = Int.max
    /// All lines from this sequence number on are here.
    private(set) var completeFrom: UInt64 = 1

    init(linesMax: Int, bytesMax: Int) {
        costMax = max(2, bytesMax)
        costMin = max(1, costMax / max(2, linesMax))
    }

    /// Adds a line; its sequence number must be greater than all before.
    mutating func append(_ entry: LogEntry) {
        let cost = cost(of: entry)
        slots.append(Slot(sequence: entry.sequence, entry: entry))
        lines += 1
        self.cost += cost
        let origin = origin(of: entry)
        let subject = (origin == .daemon ? entry.plugin : entry.task) ?? ""
        let name = shares[origin]?.name(subject) ?? subject
        shares[origin, default: Share()].queues[name, default: Queue()].append(entry.sequence, cost)
        shares[origin]?.cost += cost
        while lines > 1, self.cost > costMax { evict() }
        compact()
    }

    private func cost(of entry: LogEntry) -> Int {
        max(costMin, entry.message.utf8.count + Self.lineCost)
    }

    private func origin(of entry: LogEntry) -> Origin {
        guard entry.source != .host, let plugin = entry.plugin else { return .daemon }
        let own = Origin.plugin(plugin)
        return shares[own] != nil || shares.count < Self.sharesMax ? own : .others
    }

    // MARK: Questions

    /// Matching lines with smaller sequence numbers, the newest first.
    ///
    /// - Parameter looksMax: how many lines are looked at.
    /// - Returns: the lines, and where to go on; `nil` at the oldest one.
    func entries(
        before: UInt64,
        matching filter: LogFilter,
        limit: Int,
        looksMax: Int
    ) -> (found: [LogEntry], next: UInt64?) {
        var found: [LogEntry] = []
        var index = index(of: before)
        let last = max(head, index - looksMax)
        while index > last, found.count < limit {
            index -= 1
            if let entry = slots[index].entry, filter.matches(entry) { found.append(entry) }
        }
        return (found, index > head ? slots[index].sequence : nil)
    }

    /// When the oldest of the lines from ``completeFrom`` on was written, Unix nanoseconds; `nil` without any.
    var completeSince: Int64? {
        let index = index(of: completeFrom)
        return index < slots.count ? slots[index].entry?.time : nil
    }

    /// A note in the place of the lines that each origin has lost between lines of others.
    var gaps: [LogEntry] {
        guard head < slots.count else { return [] }
        var notes: [LogEntry] = []
        for (origin, share) in shares {
            for (name, queue) in share.queues where queue.lastDropped > slots[head].sequence {
                notes.append(Self.note(origin, name, queue))
                guard notes.count < Self.gapsMax else { break }
            }
        }
        return notes.sorted { $0.sequence < $1.sequence }
    }

    private static func note(_ origin: Origin, _ name: String, _ queue: Queue) -> LogEntry {
        let of: String
        var (plugin, task): (String?, String?) = (nil, name.isEmpty ? nil : name)
        switch origin {
        case .daemon:
            (plugin, task) = (task, nil)
            of = "of the daemon" + (plugin.map { " about plugin \($0)" } ?? "")
        case .plugin(let own):
            plugin = own
            of = "of plugin \(own)"
        case .others: of = "of other plugins"
        }
        return LogEntry(
            sequence: queue.lastDropped,
            time: queue.lastDroppedTime,
            level: .warning,
            source: .host,
            event: "log.dropped",
            message: "\(CountText.of(queue.dropped, "line")) \(of)"
                + (queue.dropped == 1 ? " was" : " were") + " dropped here",
            task: task,
            plugin: plugin
        )
    }

    // MARK: Room

    /// Drops the oldest line of the largest share.
    private mutating func evict() {
        let origin = largest()
        guard let name = shares[origin]?.largest(slack: costMax / 64),
            let sequence = shares[origin]?.queues[name]?.oldest
        else { return }
        let index = index(of: sequence)
        guard let entry = slots[index].entry else { return }
        let cost = cost(of: entry)
        slots[index].entry = nil
        lines -= 1
        self.cost -= cost
        shares[origin]?.cost -= cost
        shares[origin]?.queues[name]?.dropFirst(cost, time: entry.time)
        completeFrom = max(completeFrom, sequence + 1)
        if shares[origin]?.queues[name]?.oldest == nil { shares[origin]?.queues[name] = nil }
        if shares[origin]?.queues.isEmpty == true { shares[origin] = nil }
        while head < slots.count, slots[head].entry == nil { head += 1 }
    }

    /// The largest share, or one that was the largest shortly before.
    private mutating func largest() -> Origin {
        if let cost = shares[victim]?.cost, cost > floor { return victim }
        let reserved = costMax / 4
        var most = -1
        for (origin, share) in shares where share.cost > most {
            guard origin != .daemon || share.cost > reserved || shares.count == 1 else { continue }
            (victim, most) = (origin, share.cost)
        }
        floor = max(victim == .daemon ? reserved : 0, most - costMax / 64)
        return victim
    }

    /// The index of the first line with this sequence number or a greater one.
    private func index(of sequence: UInt64) -> Int {
        var (low, high) = (head, slots.count)
        while low < high {
            let middle = (low + high) / 2
            if slots[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Removes the entries of dropped lines when these are the majority.
    private mutating func compact() {
        guard slots.count > 2 * lines + 64 else { return }
        slots.removeAll { $0.entry == nil }
        head = 0
    }
}
