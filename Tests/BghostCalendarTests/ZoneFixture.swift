// SPDX-License-Identifier: Apache-2.0

import BghostCalendar

/// A compiled zone, right or wrong.
struct ZoneFixture {
    /// Unix seconds, and the index of the offset from then on.
    var changes: [(Int64, UInt8)] = []
    /// Seconds east of UTC.
    var offsets: [Int32] = [0]
    var rule = ""
    var version = UInt8(ascii: "2")
    var leapSeconds: UInt32 = 0

    var bytes: [UInt8] {
        let first = header + block(timeBytes: 4)
        return version == 0
            ? first : first + header + block(timeBytes: 8) + Array("\n\(rule)\n".utf8)
    }

    private var header: [UInt8] {
        let counts = [0, 0, leapSeconds, UInt32(changes.count), UInt32(offsets.count), 4]
        return Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
            + counts.flatMap(bigEndian)
    }

    private func block(timeBytes: Int) -> [UInt8] {
        let times = changes.flatMap { bigEndian($0.0).suffix(timeBytes) }
        return times + changes.map(\.1) + offsets.flatMap { bigEndian($0) + [0, 0] }
            + Array("XYZ\0".utf8) + [UInt8](repeating: 0, count: Int(leapSeconds) * (timeBytes + 4))
    }

    private func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    /// Central European time by its rule, without a file of the system.
    static func berlin() throws -> ZoneTable {
        try zone("CET-1CEST,M3.5.0,M10.5.0/3")
    }

    /// A zone that follows one rule at all times.
    static func zone(_ rule: String) throws -> ZoneTable {
        try ZoneTable(name: "Test", tzif: ZoneFixture(rule: rule).bytes)
    }
}
