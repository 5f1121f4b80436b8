// SPDX-License-Identifier: Apache-2.0

import BghostWire

/// Any one message, so that tables can hold them all.
enum Message: Equatable, Sendable {
    case configure(Configure)
    case start(Start)
    case finish(run: UInt64)
    case cancel(Cancel)
    case reply(Reply)
    case ready(Ready)
    case refused(Refused)
    case completed(Completed)
    case released(run: UInt64)
    case progress(Progress)
    case log(LogLine)
    case call(Call)
    case confined(Confined)

    func write(to packets: inout PacketWriter) -> Bool {
        switch self {
        case .configure(let message): message.write(to: &packets)
        case .start(let message): message.write(to: &packets)
        case .finish(let run): packets.frame(.finish, subject: run)
        case .cancel(let message): message.write(to: &packets)
        case .reply(let message): message.write(to: &packets)
        case .ready(let message): message.write(to: &packets)
        case .refused(let message): message.write(to: &packets)
        case .completed(let message): message.write(to: &packets)
        case .released(let run): packets.frame(.released, subject: run)
        case .progress(let message): message.write(to: &packets)
        case .log(let message): message.write(to: &packets)
        case .call(let message): message.write(to: &packets)
        case .confined(let message): message.write(to: &packets)
        }
    }

    init(_ frame: borrowing Frame) throws(WireError) {
        switch frame.kind {
        case .configure: self = .configure(try Configure(frame))
        case .start: self = .start(try Start(frame))
        case .finish: self = .finish(run: frame.subject)
        case .cancel: self = .cancel(try Cancel(frame))
        case .reply: self = .reply(try Reply(frame))
        case .ready: self = .ready(try Ready(frame))
        case .refused: self = .refused(try Refused(frame))
        case .completed: self = .completed(try Completed(frame, payloadBytesMax: 1024))
        case .released: self = .released(run: frame.subject)
        case .progress: self = .progress(try Progress(frame))
        case .log: self = .log(try LogLine(frame))
        case .call: self = .call(try Call(frame))
        case .confined: self = .confined(try Confined(frame))
        }
    }

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
        while let frame = try reader.next() { messages.append(try Message(frame)) }
        return messages
    }
}
