// SPDX-License-Identifier: Apache-2.0

import BghostWire
import BghostWireMessages

extension FuzzTarget {
    /// A packet from the other side of a worker's socket, read as daemon and worker read it.
    static let frames = FuzzTarget("frames", bytesMax: FrameLayout.packetBytesMax) {
        bytes throws(BrokenProperty) in
        var packets = PacketWriter()
        var messages: [WireMessage] = []
        var payloadBytes = 0
        do throws(WireError) {
            var reader = PacketReader(bytes.span.bytes)
            while let frame = try reader.next() {
                let message = try WireMessage(frame)
                guard message.isExact else { continue }
                payloadBytes += FrameLayout.headerBytes + frame.payload.byteCount
                messages.append(message)
                if !message.write(to: &packets) { throw .oversizedPacket }
            }
        } catch {
            try MessageText.check(error.sentence)
            return
        }
        // What was read is all that was there: no byte without a meaning, none invented.
        try require(packets.count == payloadBytes, "\(messages) are written otherwise")
        let again = try read(&packets)
        try require(again == messages, "\(messages) are read again as \(again)")
    }

    private static func read(
        _ packets: inout PacketWriter
    ) throws(BrokenProperty) -> [WireMessage] {
        var messages: [WireMessage] = []
        var failure: WireError?
        _ = packets.drain { packet in
            do throws(WireError) {
                var reader = PacketReader(packet.bytes)
                while let frame = try reader.next() { messages.append(try WireMessage(frame)) }
            } catch {
                failure = error
            }
            return true
        }
        try require(failure == nil, "what was written is refused: \(failure?.sentence ?? "")")
        return messages
    }
}
