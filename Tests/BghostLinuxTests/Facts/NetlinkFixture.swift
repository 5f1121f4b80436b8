// SPDX-License-Identifier: Apache-2.0

/// Messages of the kernel, put together by hand.
enum NetlinkFixture {
    static func message(_ kind: UInt16, _ payload: [UInt8], sequence: UInt32 = 0) -> [UInt8] {
        bytes(UInt32(16 + payload.count)) + bytes(kind) + bytes(UInt16(2)) + bytes(sequence)
            + bytes(UInt32(0)) + padded(payload)
    }

    static func attribute(_ kind: UInt16, _ value: [UInt8]) -> [UInt8] {
        padded(bytes(UInt16(4 + value.count)) + bytes(kind) + value)
    }

    static func link(_ index: UInt32, _ name: String, isUp: Bool = true) -> [UInt8] {
        let flags: UInt32 = isUp ? 0x1_1043 : 0x1003
        return message(
            16,
            [0, 0] + bytes(UInt16(1)) + bytes(index) + bytes(flags) + bytes(UInt32(0))
                + attribute(3, Array(name.utf8) + [0])
        )
    }

    /// - Parameter flags: 0x40 for one that is tentative.
    static func address(
        _ link: UInt32,
        family: UInt8 = 2,
        flags: UInt32 = 0x80,
        scope: UInt8 = 0
    ) -> [UInt8] {
        message(
            20,
            [family, 24, UInt8(truncatingIfNeeded: flags), scope] + bytes(link)
                + attribute(1, [192, 0, 2, 2]) + attribute(8, bytes(flags))
        )
    }

    static func route(
        over link: UInt32?,
        family: UInt8 = 2,
        length: UInt8 = 0,
        metric: UInt32? = nil,
        table: UInt32 = 254,
        kind: UInt8 = 1,
        flags: UInt32 = 0,
        more: [UInt8] = []
    ) -> [UInt8] {
        let header: [UInt8] = [
            family, length, 0, 0, UInt8(truncatingIfNeeded: table), 3, 0, kind,
        ]
        return message(
            24,
            header + bytes(flags) + attribute(15, bytes(table))
                + (link.map { attribute(4, bytes($0)) } ?? [])
                + (metric.map { attribute(6, bytes($0)) } ?? []) + more
        )
    }

    static func hop(_ link: UInt32, flags: UInt8 = 0) -> [UInt8] {
        bytes(UInt16(8)) + [flags, 0] + bytes(link)
    }

    static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
}
