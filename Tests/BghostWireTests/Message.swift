// SPDX-License-Identifier: Apache-2.0

import BghostWire
import BghostWireMessages

/// Any one message, so that tables can hold them all.
typealias Message = WireMessage

extension Message {
    /// This message alone, as it goes over a socket.
    var packet: [UInt8] {
        var packets = PacketWriter()
        _ = write(to: &packets)
        return packets.bytes
    }

    /// All messages of a packet.
    static func read(_ packet: [UInt8]) throws(WireError) -> [Message] {
        var messages: [Message] = []
        var reader = PacketReader(packet.span.bytes)
        while let frame = try reader.next() {
            messages.append(try Message(frame, payloadBytesMax: 1024))
        }
        return messages
    }
}
