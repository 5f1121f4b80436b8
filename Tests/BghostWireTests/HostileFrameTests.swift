// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
@testable import BghostWire
import BghostWireMessages
import Testing

/// Frames that a compromised worker may send; none may trap.
@Suite struct HostileFrameTests {
    @Test(arguments: GoldenTests.all)
    func `Every truncation is an error`(_ sample: GoldenTests.Sample) {
        let packet = sample.message.packet
        for count in 1..<packet.count {
            let cut = Array(packet.prefix(count))
            let expected: WireError = count < 16 ? .truncatedHeader : .lengthMismatch
            #expect(throws: expected) { try Message.read(cut) }
        }
    }

    /// The length is right, so that the fields themselves must notice what is missing.
    @Test(arguments: GoldenTests.all)
    func `Every truncated payload is an error`(_ sample: GoldenTests.Sample) {
        let packet = sample.message.packet
        for count in 16..<packet.count {
            let cut = Self.framed(Array(packet.prefix(count)))
            #expect(throws: WireError.truncatedPayload) { try Message.read(cut) }
        }
    }

    @Test(arguments: GoldenTests.all)
    func `Bytes left over are an error`(_ sample: GoldenTests.Sample) {
        switch sample.message {
        // Their readers look at nothing but the subject.
        case .finish, .released: return
        default: break
        }
        let long = Self.framed(sample.message.packet + [0])
        #expect(throws: WireError.trailingBytes) { try Message.read(long) }
    }

    @Test(arguments: GoldenTests.all)
    func `Every flipped byte is read or refused`(_ sample: GoldenTests.Sample) {
        let packet = sample.message.packet
        var refused = 0
        for index in packet.indices {
            for change in UInt8(1)...UInt8.max {
                var bad = packet
                bad[index] ^= change
                guard let messages = try? Message.read(bad) else {
                    refused += 1
                    continue
                }
                // A frame that is read is well formed: it can be written and read again.
                guard change.nonzeroBitCount == 1 else { continue }
                let again = try? Message.read(messages.flatMap(\.packet))
                if again != messages { Issue.record("\(Hex.text(bad)) is read as \(messages)") }
            }
        }
        #expect(refused > 0)
    }

    @Test(arguments: [
        ("0f000000 03 01 0000 0500000000000000", WireError.lengthMismatch),
        ("00000000 03 01 0000 0500000000000000", .lengthMismatch),
        ("11000000 03 01 0000 0500000000000000", .lengthMismatch),
        ("ffffffff 03 01 0000 0500000000000000", .lengthMismatch),
        ("10000000 03 02 0000 0500000000000000", .unknownVersion),
        ("10000000 03 00 0000 0500000000000000", .unknownVersion),
        ("10000000 00 01 0000 0500000000000000", .unknownKind),
        ("10000000 ff 01 0000 0500000000000000", .unknownKind),
        // A text of 4 GB.
        ("18000000 86 01 0400 0500000000000000 01000000 ffffffff", .truncatedPayload),
        // Not UTF-8: a stray byte, an overlong form, a surrogate.
        ("19000000 86 01 0400 0500000000000000 01000000 01000000 80", .notUTF8),
        ("1a000000 86 01 0400 0500000000000000 01000000 02000000 c080", .notUTF8),
        ("1b000000 86 01 0400 0500000000000000 01000000 03000000 eda080", .notUTF8),
        ("18000000 86 01 0600 0500000000000000 01000000 00000000", .valueOutOfRange),
        // A status above zero.
        (
            "24000000 83 01 0000 0500000000000000 0000000000000000 01000000 00000000 00000000",
            .valueOutOfRange
        ),
        // No handler, and more than there may be.
        ("1e000000 81 01 0000 0000000000000000 00000000 00000000 00000000 0000", .valueOutOfRange),
        ("1e000000 81 01 0000 0000000000000000 00000000 00000000 00000000 0101", .valueOutOfRange),
        // A call and a reply of an unknown kind.
        ("18000000 87 01 0000 0700000000000000 0500000000000000", .valueOutOfRange),
        ("18000000 87 01 0a00 0700000000000000 0500000000000000", .valueOutOfRange),
        ("15000000 11 01 0000 0900000000000000 00000000 05", .valueOutOfRange),
        // More pending requests than a page has.
        ("19000000 11 01 0000 0900000000000000 00000000 01 01100000", .valueOutOfRange),
    ])
    func `A hostile frame is refused`(hex: String, error: WireError) {
        #expect(throws: error) { try Message.read(Hex.bytes(hex)) }
    }

    @Test func `Texts that are too long are refused`() {
        let long = String(repeating: "x", count: LogLine.textBytesMax + 1)
        let packet = Message.log(LogLine(run: 1, level: 0, dropped: 0, text: long)).packet
        #expect(throws: WireError.valueOutOfRange) { try Message.read(packet) }
    }

    @Test(.timeLimit(.minutes(5)), arguments: SeededGenerator.seeds(4))
    func `Random packets are read or refused`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let samples = GoldenTests.all.map(\.message.packet)
        var read = 0
        for _ in 0..<25_000 {
            var packet: [UInt8] = []
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                packet += samples.randomElement(using: &random) ?? []
            }
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                packet = (0..<Int.random(in: 0..<64, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            case 1: packet.removeLast(Int.random(in: 0..<packet.count, using: &random))
            case 2:
                let index = Int.random(in: 0..<packet.count, using: &random)
                packet[index] = UInt8.random(in: 0...255, using: &random)
            default: packet = Self.framed(packet)
            }
            if (try? Message.read(packet)) != nil { read += 1 }
        }
        #expect(read > 0)
    }

    /// Bytes with a length that fits, so that the header's own check lets them through.
    private static func framed(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count >= 16 else { return bytes }
        let length = UInt32(bytes.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) } + bytes[4...]
    }
}
