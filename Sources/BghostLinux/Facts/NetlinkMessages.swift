// SPDX-License-Identifier: Apache-2.0

/// Why bytes from netlink are invalid.
package enum NetlinkError: Error, Equatable, Sendable {
    /// A length is shorter than its own header, or longer than the remaining bytes.
    case badLength
    /// A message is too short for its kind.
    case truncated
}

/// Reads numbers and strings at offsets in a message; every access is checked.
struct NetlinkBytes {
    let bytes: ArraySlice<UInt8>

    var count: Int { bytes.count }

    func u8(_ offset: Int) throws(NetlinkError) -> UInt8 {
        guard offset >= 0, offset < bytes.count else { throw .truncated }
        return bytes[bytes.startIndex + offset]
    }

    /// In the machine's byte order, as in all of netlink.
    func u16(_ offset: Int) throws(NetlinkError) -> UInt16 {
        let (first, second) = (UInt16(try u8(offset)), UInt16(try u8(offset + 1)))
        return UInt16(littleEndian: 1) == 1 ? first | second << 8 : first << 8 | second
    }

    func u32(_ offset: Int) throws(NetlinkError) -> UInt32 {
        let (first, second) = (UInt32(try u16(offset)), UInt32(try u16(offset + 2)))
        return UInt16(littleEndian: 1) == 1 ? first | second << 16 : first << 16 | second
    }

    func from(_ offset: Int) throws(NetlinkError) -> NetlinkBytes {
        guard offset >= 0, offset <= bytes.count else { throw .truncated }
        return NetlinkBytes(bytes: bytes.dropFirst(offset))
    }

    /// The text before the first zero byte.
    var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

    /// Splits off the first record of a list in which each record begins with its length.
    private func next(headerCount: Int, length: Int) throws(NetlinkError) -> (
        record: NetlinkBytes, rest: NetlinkBytes
    ) {
        guard length >= headerCount, length <= count else { throw .badLength }
        // The padding of the last record may be missing.
        let aligned = Swift.min((length + 3) & ~3, count)
        return (NetlinkBytes(bytes: bytes.prefix(length)), try from(aligned))
    }

    /// Parses these bytes as a list of attributes, with their kinds.
    func attributes() throws(NetlinkError) -> [(kind: UInt16, value: NetlinkBytes)] {
        var found: [(kind: UInt16, value: NetlinkBytes)] = []
        var rest = self
        // Fewer bytes than a header are padding.
        while rest.count >= 4 {
            let (record, after) = try rest.next(headerCount: 4, length: Int(try rest.u16(0)))
            // The upper two bits are flags.
            found.append((try record.u16(2) & 0x3FFF, try record.from(4)))
            rest = after
        }
        return found
    }

    /// Parses these bytes as a list of next hops.
    func hops() throws(NetlinkError) -> [(flags: UInt8, link: UInt32)] {
        var found: [(flags: UInt8, link: UInt32)] = []
        var rest = self
        while rest.count >= 8 {
            let (record, after) = try rest.next(headerCount: 8, length: Int(try rest.u16(0)))
            found.append((try record.u8(2), try record.u32(4)))
            rest = after
        }
        return found
    }

    /// Parses these bytes as a list of messages.
    func messages() throws(NetlinkError) -> [NetlinkMessage] {
        var found: [NetlinkMessage] = []
        var rest = self
        while rest.count >= NetlinkMessage.headerCount {
            let (record, after) = try rest.next(
                headerCount: NetlinkMessage.headerCount,
                length: Int(try rest.u32(0))
            )
            found.append(
                NetlinkMessage(
                    kind: try record.u16(4),
                    flags: try record.u16(6),
                    sequence: try record.u32(8),
                    payload: try record.from(NetlinkMessage.headerCount)
                )
            )
            rest = after
        }
        return found
    }
}

/// One message; the numbers are those of `linux/netlink.h` and `linux/rtnetlink.h`.
struct NetlinkMessage {
    static let headerCount = 16

    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let newLink: UInt16 = 16
    static let getLink: UInt16 = 18
    static let newAddress: UInt16 = 20
    static let getAddress: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let deletedRoute: UInt16 = 25
    static let getRoute: UInt16 = 26

    /// A change interrupted the listing.
    static let interrupted: UInt16 = 0x10

    let kind: UInt16
    let flags: UInt16
    let sequence: UInt32
    let payload: NetlinkBytes

    /// The request for all links, addresses or routes.
    ///
    /// - Parameter family: the address family; 0 for all.
    static func question(_ kind: UInt16, family: UInt8, sequence: UInt32) -> [UInt8] {
        // The header of the kind (a link's, an address's or a route's), filled with 0.
        let payloadCount = kind == getLink ? 16 : kind == getAddress ? 8 : 12
        let count = UInt32(headerCount + payloadCount)
        let dump: UInt16 = 0x300
        let request: UInt16 = 0x1
        var bytes: [UInt8] = []
        func add(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        }
        add(count)
        add(kind)
        add(request | dump)
        add(sequence)
        add(UInt32(0))
        bytes.append(family)
        bytes += [UInt8](repeating: 0, count: payloadCount - 1)
        return bytes
    }
}
