// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
@testable import BghostWire
import BghostWireMessages
import Testing

@Suite struct PacketWriterTests {
    @Test func `Frames share a packet`() throws {
        var packets = PacketWriter()
        for sample in GoldenTests.all { #expect(sample.message.write(to: &packets)) }
        #expect(packets.count == GoldenTests.all.map(\.message.packet.count).reduce(0, +))
        var sent: [[UInt8]] = []
        #expect(packets.drain { Self.keep($0, &sent) })
        #expect(sent.count == 1)
        #expect(try Message.read(sent[0]) == GoldenTests.all.map(\.message))
        #expect(packets.isEmpty)
    }

    @Test func `An empty packet is not sent`() {
        var packets = PacketWriter()
        #expect(packets.isEmpty)
        #expect(
            packets.drain { _ in
                Issue.record("an empty packet would be the end of the socket")
                return true
            }
        )
    }

    @Test func `A frame that does not fit begins the next packet`() throws {
        var packets = PacketWriter()
        let half = Self.log(bytes: FrameLayout.packetBytesMax / 2)
        for _ in 0..<3 { #expect(half.write(to: &packets)) }
        var sent: [[UInt8]] = []
        #expect(packets.drain { Self.keep($0, &sent) })
        #expect(sent.map(\.count) == [half.packet.count, half.packet.count, half.packet.count])
        #expect(sent.allSatisfy { $0 == half.packet })
    }

    @Test func `A packet is filled to the last byte`() {
        var packets = PacketWriter()
        let most = Self.log(bytes: FrameLayout.packetBytesMax - 24)
        #expect(most.write(to: &packets))
        #expect(packets.count == FrameLayout.packetBytesMax)
        #expect(Message.finish(run: 1).write(to: &packets))
        var sent: [[UInt8]] = []
        #expect(packets.drain { Self.keep($0, &sent) })
        #expect(sent == [most.packet, Message.finish(run: 1).packet])
    }

    @Test func `An oversized frame leaves nothing`() throws {
        var packets = PacketWriter()
        #expect(Message.finish(run: 1).write(to: &packets))
        let over = Self.log(bytes: FrameLayout.packetBytesMax - 23)
        #expect(!over.write(to: &packets))
        #expect(packets.bytes == Message.finish(run: 1).packet)
        #expect(Message.released(run: 2).write(to: &packets))
        #expect(try Message.read(packets.bytes) == [.finish(run: 1), .released(run: 2)])
    }

    @Test func `A refused packet stays`() {
        var packets = PacketWriter()
        #expect(Message.finish(run: 1).write(to: &packets))
        #expect(!packets.drain { _ in false })
        #expect(Message.finish(run: 2).write(to: &packets))
        var sent: [[UInt8]] = []
        #expect(packets.drain { Self.keep($0, &sent) })
        #expect(sent == [Message.finish(run: 1).packet + Message.finish(run: 2).packet])
    }

    /// A socket that takes a packet now and then, while more is written.
    @Test(arguments: SeededGenerator.seeds(8))
    func `The order holds whatever is refused`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var packets = PacketWriter()
        var written: [Message] = []
        var sent: [[UInt8]] = []
        for run in UInt64(0)..<600 {
            let message: Message =
                Int.random(in: 0..<3, using: &random) == 0
                ? Self.start(bytes: Int.random(in: 0..<100_000, using: &random))
                : .finish(run: run)
            #expect(message.write(to: &packets))
            written.append(message)
            guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
            _ = packets.drain { packet in
                Int.random(in: 0..<3, using: &random) > 0 && Self.keep(packet, &sent)
            }
        }
        #expect(packets.drain { Self.keep($0, &sent) })
        #expect(sent.allSatisfy { (1...FrameLayout.packetBytesMax).contains($0.count) })
        #expect(try sent.flatMap { try Message.read($0) } == written)
    }

    private static func keep(_ packet: UnsafeRawBufferPointer, _ sent: inout [[UInt8]]) -> Bool {
        sent.append(Array(packet))
        return true
    }

    private static func log(bytes: Int) -> Message {
        .log(LogLine(run: 1, level: 2, dropped: 0, text: String(repeating: "x", count: bytes)))
    }

    private static func start(bytes: Int) -> Message {
        .start(
            Start(
                run: 1,
                handler: 0,
                attempt: 1,
                deadline: 0,
                graceMilliseconds: 0,
                resultBytesMax: 0,
                task: "t",
                parameters: String(repeating: "x", count: bytes)
            )
        )
    }
}
