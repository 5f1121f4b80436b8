// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An IPv4 or IPv6 address.
struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes in network order.
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses the form of four decimal numbers.
    ///
    /// The C library also accepts other spellings, such as `127.1`. bghost treats them as host
    /// names, so the checks for names apply to them.
    init?(v4 text: String) {
        self.init(text, family: AF_INET, count: 4)
    }

    init?(v6 text: String) {
        self.init(text, family: AF_INET6, count: 16)
    }

    private init?(_ text: String, family: Int32, count: Int) {
        guard !text.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        guard inet_pton(family, text, &bytes) == 1 else { return nil }
        self.bytes = bytes
    }

    /// The usual short form.
    var text: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        // It cannot fail: the buffer has room for the longest address of both families.
        _ = inet_ntop(family, bytes, &buffer, socklen_t(buffer.count))
        return String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
    }

    /// Whether the address lies outside the public internet: it belongs to this machine, to its
    /// link or to a private network, or it names no single machine (multicast, unspecified).
    var isLocal: Bool {
        guard bytes.count == 4 else { return isLocalV6 }
        switch (bytes[0], bytes[1]) {
        case (0, _), (10, _), (127, _), (169, 254), (192, 168), (224..., _): return true
        case (100, 64...127), (172, 16...31), (198, 18...19): return true
        case (192, 0): return bytes[2] == 0
        default: return false
        }
    }

    private var isLocalV6: Bool {
        // An address that embeds an IPv4 address reaches that IPv4 address: the kernel translates
        // mapped and compatible ones, a gateway translates the others (NAT64, 6to4).
        if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == bytes[11],
            [0, 255].contains(bytes[10])
        {
            return IPAddress(bytes: Array(bytes[12...])).isLocal
        }
        if bytes[..<12] == [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0] {
            return IPAddress(bytes: Array(bytes[12...])).isLocal
        }
        if bytes[..<2] == [0x20, 0x02] {
            return IPAddress(bytes: Array(bytes[2..<6])).isLocal
        }
        switch (bytes[0], bytes[1]) {
        case (0xFC...0xFD, _), (0xFF, _), (0xFE, 0x80...): return true
        case (0, 0x64): return bytes[2] == 0xFF && bytes[3] == 0x9B
        default: return false
        }
    }
}
