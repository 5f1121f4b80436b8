// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The place where a page of a list ends, as a text that clients return for the next page.
///
/// It holds the last row's own values and no row count, so rows that come and go before it move nothing. Its
/// form may change with any version; a checksum tells a text that no daemon made.
package enum PageCursor: Equatable, Sendable {
    /// - Parameters:
    ///   - generation: the daemon and the manifest that made the page.
    ///   - place: the row of the index; negative for parked requests.
    ///   - id: the last request of that row.
    case pending(generation: UInt64, place: Int64, id: RunID)
    /// When the last dead letter died, Unix nanoseconds, and its run.
    case dead(diedAt: Int64, run: RunID)
    /// When the last start was due, Unix nanoseconds, and its number.
    case starts(due: Int64, number: Int64)
    /// The day of the last sums of runs, since 1970, and their number.
    case days(day: Int64, number: Int64)
    /// The request of the last checkpoint.
    case checkpoints(request: RunID)
    /// The last transfer.
    case transfers(id: RunID)
    /// The last request of a fleet, and its partition.
    case fleetRequest(pool: UInt8, number: UInt16, id: RunID)
    /// The last submission of a fleet that waits for the owner of its partition.
    case fleetLetter(number: Int64)

    /// The longest text of a cursor, bytes.
    package static let bytesMax = 48

    private var kind: UInt8 {
        switch self {
        case .pending: 1
        case .dead: 2
        case .starts: 3
        case .days: 4
        case .checkpoints: 5
        case .transfers: 6
        case .fleetRequest: 7
        case .fleetLetter: 8
        }
    }

    private var words: [UInt64] {
        switch self {
        case .pending(let generation, let place, let id):
            [generation, UInt64(bitPattern: place), id.high, id.low]
        case .dead(let diedAt, let run): [UInt64(bitPattern: diedAt), run.high, run.low]
        case .starts(let due, let number): [UInt64(bitPattern: due), UInt64(bitPattern: number)]
        case .days(let day, let number): [UInt64(bitPattern: day), UInt64(bitPattern: number)]
        case .checkpoints(let request): [request.high, request.low]
        case .transfers(let id): [id.high, id.low]
        case .fleetRequest(let pool, let number, let id):
            [UInt64(pool) << 16 | UInt64(number), id.high, id.low]
        case .fleetLetter(let number): [UInt64(bitPattern: number)]
        }
    }

    /// The text for clients: letters, digits, `-` and `_`.
    package var text: String {
        var bytes = [kind]
        for word in words {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        let sum = Self.sum(bytes)
        bytes += [UInt8(truncatingIfNeeded: sum >> 8), UInt8(truncatingIfNeeded: sum)]
        return String(
            decoding: Base64.encode(bytes).utf8.compactMap { byte -> UInt8? in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case UInt8(ascii: "="): nil
                default: byte
                }
            },
            as: UTF8.self
        )
    }

    /// Reads a text of `text`; `nil` for any other text, however long.
    package init?(_ text: String) {
        guard (1...Self.bytesMax).contains(text.utf8.count) else { return nil }
        var digits: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): digits.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): digits.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: digits.append(byte)
            }
        }
        while !digits.count.isMultiple(of: 4) { digits.append(UInt8(ascii: "=")) }
        guard let bytes = Base64.decode(String(decoding: digits, as: UTF8.self)), bytes.count > 2,
            (bytes.count - 3).isMultiple(of: 8)
        else { return nil }
        let sum = UInt16(bytes[bytes.count - 2]) << 8 | UInt16(bytes[bytes.count - 1])
        guard sum == Self.sum(bytes.dropLast(2)) else { return nil }
        let words = stride(from: 1, to: bytes.count - 2, by: 8).map { start in
            bytes[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        switch (bytes[0], words.count) {
        case (1, 4):
            self = .pending(
                generation: words[0],
                place: Int64(bitPattern: words[1]),
                id: RunID(high: words[2], low: words[3])
            )
        case (2, 3):
            self = .dead(
                diedAt: Int64(bitPattern: words[0]),
                run: RunID(high: words[1], low: words[2])
            )
        case (3, 2):
            self = .starts(
                due: Int64(bitPattern: words[0]),
                number: Int64(bitPattern: words[1])
            )
        case (4, 2):
            self = .days(day: Int64(bitPattern: words[0]), number: Int64(bitPattern: words[1]))
        case (5, 2): self = .checkpoints(request: RunID(high: words[0], low: words[1]))
        case (6, 2): self = .transfers(id: RunID(high: words[0], low: words[1]))
        case (7, 3):
            self = .fleetRequest(
                pool: UInt8(truncatingIfNeeded: words[0] >> 16),
                number: UInt16(truncatingIfNeeded: words[0]),
                id: RunID(high: words[1], low: words[2])
            )
        case (8, 1): self = .fleetLetter(number: Int64(bitPattern: words[0]))
        default: return nil
        }
    }

    /// Fletcher's sum, which finds cut, typed and exchanged characters.
    ///
    /// It is no protection from forgery: a forged cursor only selects another page of what its client may read
    /// anyway.
    private static func sum(_ bytes: some Sequence<UInt8>) -> UInt16 {
        var (low, high): (UInt16, UInt16) = (0x5A, 0xA5)
        for byte in bytes {
            low = (low + UInt16(byte)) % 255
            high = (high + low) % 255
        }
        return high << 8 | low
    }
}
