// SPDX-License-Identifier: Apache-2.0

/// Collects frames into packets.
///
/// One writer serves one socket and reuses its memory.
package struct PacketWriter {
    /// The written packets, consecutively, ready to be sent.
    package private(set) var bytes: [UInt8] = []
    /// The end offset in `bytes` of each packet but the last.
    private var boundaries: [Int] = []
    private var packetStart = 0

    package init() {}

    var isEmpty: Bool { bytes.isEmpty }

    /// The number of bytes that wait to be sent.
    package var count: Int { bytes.count }

    /// Removes all packets and keeps the memory, unless a burst made it large.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4 * FrameLayout.packetBytesMax)
        boundaries.removeAll(keepingCapacity: true)
        packetStart = 0
    }

    /// Passes each packet in turn to `send`, which returns whether it accepted the packet.
    ///
    /// Packets that were not accepted remain, in order, for the next call.
    ///
    /// - Returns: whether all packets were accepted.
    package mutating func drain(_ send: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        if boundaries.isEmpty {
            // The common case needs no allocation.
            guard bytes.isEmpty || bytes.withUnsafeBytes(send) else { return false }
            removeAll()
            return true
        }
        var start = 0
        var taken = 0
        let ends = boundaries + [bytes.count]
        bytes.withUnsafeBytes { all in
            for end in ends {
                guard end == start || send(UnsafeRawBufferPointer(rebasing: all[start..<end]))
                else { return }
                start = end
                taken += 1
            }
        }
        guard taken < ends.count else {
            removeAll()
            return true
        }
        bytes.removeFirst(start)
        boundaries = boundaries.dropFirst(taken).map { $0 - start }
        packetStart -= start
        return false
    }

    /// Appends one frame.
    ///
    /// - Returns: `false`, with nothing appended, if the frame is larger than a packet may be.
    @discardableResult
    package mutating func frame(
        _ kind: FrameKind,
        flags: UInt16 = 0,
        subject: UInt64,
        _ fields: (inout FieldWriter) -> Void = { _ in }
    ) -> Bool {
        let start = bytes.count
        var writer = FieldWriter(bytes: bytes)
        bytes = []
        writer.integer(UInt32(0))
        writer.integer(kind.rawValue)
        writer.integer(FrameLayout.version)
        writer.integer(flags)
        writer.integer(subject)
        fields(&writer)
        bytes = writer.bytes
        writer.bytes = []
        let length = bytes.count - start
        guard length <= FrameLayout.packetBytesMax else {
            bytes.removeSubrange(start...)
            return false
        }
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(
                of: UInt32(length).littleEndian,
                toByteOffset: start,
                as: UInt32.self
            )
        }
        if bytes.count - packetStart > FrameLayout.packetBytesMax {
            boundaries.append(start)
            packetStart = start
        }
        return true
    }
}

/// Writes the fields of one frame in order.
package struct FieldWriter {
    var bytes: [UInt8]

    package mutating func integer<T: FixedWidthInteger>(_ value: T) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func text(_ value: String) {
        var value = value
        value.withUTF8 {
            integer(UInt32(truncatingIfNeeded: $0.count))
            bytes.append(contentsOf: $0)
        }
    }

    package mutating func text(_ value: UnsafeRawBufferPointer) {
        integer(UInt32(truncatingIfNeeded: value.count))
        bytes.append(contentsOf: value)
    }

    mutating func bytes(_ value: [UInt8]) {
        integer(UInt32(truncatingIfNeeded: value.count))
        bytes.append(contentsOf: value)
    }
}
