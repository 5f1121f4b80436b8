// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A checksum over the values of a row.
///
/// SQLite's pages have no checksum, so a changed byte within a value would be read as if it had
/// been written. Each step is a bijection of the state and of the word, so any single changed word
/// changes the sum. It detects accidents; it does not protect against an attacker with access to
/// the file.
struct RowSum {
    private(set) var value: UInt64 = 0x9AE1_6A3B_2F90_404F

    mutating func add(_ word: UInt64) {
        var mixed = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
        mixed ^= mixed >> 32
        value = mixed
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(UInt64(truncatingIfNeeded: bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        guard offset < bytes.count else { return }
        var last: UInt64 = 0
        for byte in bytes[offset...] { last = last << 8 | UInt64(byte) }
        add(last)
    }

    mutating func add(_ id: RunID) {
        add(id.high)
        add(id.low)
    }
}

/// The state of a request as one number.
///
/// Each row of the journal contains the exclusive or of all these numbers: so opening the file
/// detects rows that vanished or reappeared because of a damaged page.
enum PlaceSum {
    static func pending(_ id: RunID) -> UInt64 { sum(id, 0) }

    static func dead(_ id: RunID) -> UInt64 { sum(id, 1) }

    static func leased(_ id: RunID, run: RunID, epoch: UInt64) -> UInt64 {
        var sum = RowSum()
        sum.add(id)
        sum.add(2)
        sum.add(run)
        sum.add(epoch)
        return sum.value
    }

    private static func sum(_ id: RunID, _ place: UInt64) -> UInt64 {
        var sum = RowSum()
        sum.add(id)
        sum.add(place)
        return sum.value
    }
}
