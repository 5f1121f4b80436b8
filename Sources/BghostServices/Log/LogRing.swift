// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The newest lines of a log, limited in number and in bytes.
///
/// The lines of one plugin use at most half of either limit, so that a plugin with many lines drops
/// its own old lines and not those of others.
struct LogRing {
    private struct Slot {
        let sequence: UInt64
        /// The line; `nil` if it was dropped.
        var entry: LogEntry?
    }

    /// The lines of one plugin.
    private struct Share {
        /// The sequence numbers of the lines, from index `first` on.
        var sequences: [UInt64] = []
        var first = 0
        var bytes = 0

        var count: Int { sequences.count - first }

        mutating func dropFirst() {
            first += 1
            guard first > 64, first > sequences.count / 2 else { return }
            sequences.removeFirst(first)
            first = 0
        }
    }

    private let linesMax: Int
    private let bytesMax: Int
    /// The lines by sequence number, from index `head` on.
    private var slots: [Slot] = []
    private var head = 0
    private var lines = 0
    private(set) var bytes = 0
    private var shares: [String: Share] = [:]

    /// Overhead of a line in bytes, without its text.
    private static let lineCost = 256

    init(linesMax: Int, bytesMax: Int) {
        self.linesMax = max(2, linesMax)
        self.bytesMax = bytesMax
    }

    /// Adds a line; its sequence number must be greater than all before.
    mutating func append(_ entry: LogEntry) {
        let cost = Self.cost(of: entry)
        slots.append(Slot(sequence: entry.sequence, entry: entry))
        lines += 1
        bytes += cost
        if let plugin = entry.plugin {
            shares[plugin, default: Share()].sequences.append(entry.sequence)
            shares[plugin]?.bytes += cost
            while let share = shares[plugin], share.count > 1,
                share.count > linesMax / 2 || share.bytes > bytesMax / 2
            {
                drop(at: index(of: share.sequences[share.first]))
            }
        }
        while lines > 1, lines > linesMax || bytes > bytesMax {
            drop(at: head)
            head += 1
        }
        compact()
    }

    /// The newest matching lines, oldest first.
    func entries(matching filter: LogFilter, limit: Int) -> [LogEntry] {
        var found: [LogEntry] = []
        var index = slots.count
        while index > head, found.count < limit {
            index -= 1
            if let entry = slots[index].entry, filter.matches(entry) { found.append(entry) }
        }
        return found.reversed()
    }

    private static func cost(of entry: LogEntry) -> Int { entry.message.utf8.count + lineCost }

    /// Drops a line, which must be the oldest of its plugin.
    private mutating func drop(at index: Int) {
        guard let entry = slots[index].entry else { return }
        let cost = Self.cost(of: entry)
        slots[index].entry = nil
        lines -= 1
        bytes -= cost
        guard let plugin = entry.plugin else { return }
        shares[plugin]?.bytes -= cost
        shares[plugin]?.dropFirst()
        if shares[plugin]?.count == 0 { shares[plugin] = nil }
    }

    /// The index of the line with a sequence number.
    private func index(of sequence: UInt64) -> Int {
        var (low, high) = (head, slots.count - 1)
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
