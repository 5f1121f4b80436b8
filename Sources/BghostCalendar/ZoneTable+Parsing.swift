// SPDX-License-Identifier: Apache-2.0

extension ZoneTable {
    /// The maximum size of a zone file, bytes; the largest known one has less than 4 KiB.
    static let bytesMax = 1 << 16

    /// Parses a compiled zone (TZif, versions 1 to 4, RFC 9636).
    ///
    /// The names of offsets, such as CEST, are ignored.
    package init(name: String, tzif bytes: [UInt8]) throws(ZoneError) {
        guard bytes.count <= Self.bytesMax else { throw .tooLarge(bytes: bytes.count) }
        var block = try ZoneBlock(bytes, at: 0, timeBytes: 4)
        var rule: ZoneRule?
        if block.version >= UInt8(ascii: "2") {
            // The first block is for readers of version 1; the second has the same contents in 64 bits.
            block = try ZoneBlock(bytes, at: block.end, timeBytes: 8)
            rule = try Self.footer(bytes[block.end...])
        }
        self.init(name: name, segments: try Self.segments(of: block, then: rule))
    }

    private static func footer(_ bytes: ArraySlice<UInt8>) throws(ZoneError) -> ZoneRule? {
        guard bytes.first == UInt8(ascii: "\n"),
            let end = bytes.dropFirst().firstIndex(of: UInt8(ascii: "\n"))
        else { throw .cutOff }
        let text = bytes[(bytes.startIndex + 1)..<end]
        // Without a rule, the last offset continues.
        guard !text.isEmpty else { return nil }
        guard let rule = ZoneRule(Array(text)) else {
            throw .badRule(String(decoding: text, as: UTF8.self))
        }
        return rule
    }

    private static func segments(
        of block: ZoneBlock,
        then rule: ZoneRule?
    ) throws(ZoneError) -> [Segment] {
        var builder = SegmentBuilder(offset: try block.offset(ofType: 0))
        var last: Int64?
        for index in 0..<block.timeCount {
            let time = block.time(index)
            guard time > last ?? Int64.min || index == 0 else {
                throw .malformed("its changes are not in order")
            }
            last = time
            builder.change(at: time, to: try block.offset(ofType: block.type(index)))
        }
        guard let rule else { return builder.segments }
        guard let daylight = rule.daylight else {
            // The offset after the last change is that of the rule.
            if last == nil { builder.change(at: Int64.min, to: rule.offset) }
            return builder.segments
        }
        for change in rule.changes(daylight) where change.start > last ?? Int64.min {
            builder.change(at: change.start, to: change.offset)
        }
        return builder.segments
    }
}

/// Collects changes in order, and omits those without effect.
private struct SegmentBuilder {
    private(set) var segments: [ZoneTable.Segment]

    init(offset: Int64) {
        segments = [ZoneTable.Segment(start: ZoneTable.range.lowerBound, offset: offset)]
    }

    mutating func change(at time: Int64, to offset: Int64) {
        guard time <= ZoneTable.range.upperBound else { return }
        let last = segments.count - 1
        if time <= segments[last].start {
            // A change before the range, or a second change at the same instant, which takes precedence.
            segments[last].offset = offset
            if last > 0, segments[last - 1].offset == offset { segments.removeLast() }
        } else if segments[last].offset != offset {
            segments.append(ZoneTable.Segment(start: time, offset: offset))
        }
    }
}

/// One of the blocks of a compiled zone; its counts have been checked against the size.
private struct ZoneBlock {
    let version: UInt8
    let timeCount: Int
    /// The offset of the first byte after the block.
    let end: Int
    private let bytes: [UInt8]
    private let timeBytes: Int
    private let typeCount: Int
    /// The offset of the times; the type indices follow, and then the types.
    private let start: Int

    init(_ bytes: [UInt8], at offset: Int, timeBytes: Int) throws(ZoneError) {
        let header = 44
        guard bytes.count >= offset + header else {
            throw bytes.starts(with: "TZif".utf8) ? .cutOff : .notAZone
        }
        guard bytes[offset..<offset + 4].elementsEqual("TZif".utf8) else { throw .notAZone }
        self.bytes = bytes
        self.timeBytes = timeBytes
        version = bytes[offset + 4]
        // Six 32-bit counts: UTC marks, standard time marks, leap seconds, changes, types, and bytes of
        // names. The products below do not overflow 64 bits.
        let counts = (0..<6).map { index in
            bytes[(offset + 20 + 4 * index)..<(offset + 24 + 4 * index)]
                .reduce(0) { $0 << 8 | Int($1) }
        }
        guard counts[2] == 0 else { throw .leapSeconds }
        guard (1...256).contains(counts[4]) else { throw .malformed("it has no or too many types") }
        timeCount = counts[3]
        typeCount = counts[4]
        start = offset + header
        end =
            start + timeCount * (timeBytes + 1) + typeCount * 6 + counts[5] + counts[0] + counts[1]
        guard end <= bytes.count else { throw .cutOff }
    }

    /// The time of a change, Unix seconds.
    func time(_ index: Int) -> Int64 {
        let value = read(at: start + index * timeBytes, count: timeBytes)
        return timeBytes == 8
            ? Int64(bitPattern: value) : Int64(Int32(truncatingIfNeeded: value))
    }

    func type(_ index: Int) -> Int { Int(bytes[start + timeCount * timeBytes + index]) }

    func offset(ofType type: Int) throws(ZoneError) -> Int64 {
        guard type < typeCount else { throw .malformed("a change leads to no type") }
        let place = start + timeCount * (timeBytes + 1) + type * 6
        let offset = Int64(Int32(truncatingIfNeeded: read(at: place, count: 4)))
        guard (-ZoneTable.offsetMax...ZoneTable.offsetMax).contains(offset) else {
            throw .malformed("an offset from UTC of \(offset) s")
        }
        return offset
    }

    private func read(at place: Int, count: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in place..<place + count { value = value << 8 | UInt64(bytes[index]) }
        return value
    }
}
