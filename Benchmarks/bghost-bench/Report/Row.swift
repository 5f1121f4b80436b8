// SPDX-License-Identifier: Apache-2.0

/// Where a number comes from.
struct Source: Hashable {
    let step: Step
    let metric: String
    /// From the step's unit to the row's.
    var scale = 1.0
}

/// What a row should be.
enum Target {
    /// At most so many times the floor.
    case atMost(Double)
    /// At least so many times the floor.
    case atLeast(Double)
    /// At least this, whatever the floor does.
    case value(Double)
    /// At most this, whatever the floor does.
    case noMore(Double)

    var text: String {
        switch self {
        case .atMost(let ratio): "<= \(ratio.readable)x"
        case .atLeast(let ratio): ">= \(ratio.readable)x"
        case .value(let value): ">= \(value.readable)"
        case .noMore(let value): "<= \(value.readable)"
        }
    }

    func isMet(value: Double, ratio: Double?) -> Bool {
        switch self {
        case .atMost(let limit): ratio.map { $0 <= limit } ?? false
        case .atLeast(let limit): ratio.map { $0 >= limit } ?? false
        case .value(let limit): value >= limit
        case .noMore(let limit): value <= limit
        }
    }
}

/// One line of the table.
struct Row {
    struct Floor {
        let name: String
        let source: Source
    }

    let name: String
    let unit: String
    let subject: Source
    var floor: Floor?
    var target: Target?
    /// Why the target is missed where it is, for those who read the table.
    var reason = ""
}

/// What was measured of a row: an element for each round.
struct Result {
    let row: Row
    var values: [Double] = []
    var floors: [Double] = []
    var ratios: [Double] = []
    /// Why the row could not be measured.
    var failure: String?

    init(row: Row) { self.row = row }

    var isMet: Bool? {
        guard failure == nil, let target = row.target, let value = values.median else { return nil }
        return target.isMet(value: value, ratio: ratios.median)
    }

    var verdict: String {
        if failure != nil { return "failed" }
        return isMet.map { $0 ? "ok" : "missed" } ?? "-"
    }
}
