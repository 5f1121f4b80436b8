// SPDX-License-Identifier: Apache-2.0

/// Splits a packet into frames.
///
/// The input is untrusted: every byte is checked, and nothing here traps.
package struct PacketReader: ~Escapable {
    private var rest: RawSpan

    @_lifetime(copy packet)
    package init(_ packet: RawSpan) {
        rest = packet
    }

    /// The next frame; `nil` at the end of the packet.
    @_lifetime(copy self)
    package mutating func next() throws(WireError) -> Frame? {
        guard !rest.isEmpty else { return nil }
        guard rest.byteCount >= FrameLayout.headerBytes else { throw .truncatedHeader }
        let length = Int(UInt32(littleEndian: rest.unsafeLoadUnaligned(as: UInt32.self)))
        guard length >= FrameLayout.headerBytes, length <= rest.byteCount else {
            throw .lengthMismatch
        }
        let version = rest.unsafeLoadUnaligned(fromByteOffset: 5, as: UInt8.self)
        guard version == FrameLayout.version else { throw .unknownVersion }
        let rawKind = rest.unsafeLoadUnaligned(fromByteOffset: 4, as: UInt8.self)
        guard let kind = FrameKind(rawValue: rawKind) else { throw .unknownKind }
        let frame = Frame(
            kind: kind,
            flags: UInt16(
                littleEndian: rest.unsafeLoadUnaligned(fromByteOffset: 6, as: UInt16.self)
            ),
            subject: UInt64(
                littleEndian: rest.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)
            ),
            payload: rest.extracting(FrameLayout.headerBytes..<length)
        )
        rest = rest.extracting(droppingFirst: length)
        return frame
    }
}

/// Reads the fields of one frame's payload in order.
struct FieldReader: ~Escapable {
    private var rest: RawSpan

    @_lifetime(copy payload)
    init(_ payload: RawSpan) {
        rest = payload
    }

    /// The number of unread bytes.
    var remaining: Int { rest.byteCount }

    @_lifetime(self: copy self)
    mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
        _ type: T.Type = T.self
    ) throws(WireError) -> T {
        guard rest.byteCount >= MemoryLayout<T>.size else { throw .truncatedPayload }
        let value = T(littleEndian: rest.unsafeLoadUnaligned(as: T.self))
        rest = rest.extracting(droppingFirst: MemoryLayout<T>.size)
        return value
    }

    /// Reads a text: its length as four bytes, then that many bytes of UTF-8.
    @_lifetime(self: copy self)
    mutating func text(bytesMax: Int) throws(WireError) -> String {
        let count = Int(try integer(UInt32.self))
        guard count <= rest.byteCount else { throw .truncatedPayload }
        guard count <= bytesMax else { throw .valueOutOfRange }
        guard count > 0 else { return "" }
        let bytes = rest.extracting(first: count)
        rest = rest.extracting(droppingFirst: count)
        let text = bytes.withUnsafeBytes { String(validating: $0, as: UTF8.self) }
        guard let text else { throw .notUTF8 }
        return text
    }

    /// Reads bytes: their number as four bytes, then the bytes.
    @_lifetime(self: copy self)
    mutating func bytes(max: Int) throws(WireError) -> [UInt8] {
        let count = Int(try integer(UInt32.self))
        guard count <= rest.byteCount else { throw .truncatedPayload }
        guard count <= max else { throw .valueOutOfRange }
        let bytes = rest.extracting(first: count).withUnsafeBytes { Array($0) }
        rest = rest.extracting(droppingFirst: count)
        return bytes
    }

    /// Throws if fields remain.
    func end() throws(WireError) {
        guard rest.isEmpty else { throw .trailingBytes }
    }
}
