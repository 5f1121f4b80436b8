// SPDX-License-Identifier: Apache-2.0

package import BghostWire

/// Any message, read and written by its kind.
package enum WireMessage: Equatable, Sendable {
    case configure(Configure)
    case start(Start)
    case finish(run: UInt64)
    case cancel(Cancel)
    case reply(Reply)
    case part(ReplyPart)
    case ready(Ready)
    case refused(Refused)
    case completed(Completed)
    case released(run: UInt64)
    case progress(Progress)
    case log(LogLine)
    case call(Call)
    case confined(Confined)
    case explain(Explain)
    case report(Report)
    case declared(Declared)

    /// - Parameter payloadBytesMax: the largest result that is taken, bytes.
    package init(
        _ frame: borrowing Frame,
        payloadBytesMax: Int = FrameLayout.packetBytesMax
    ) throws(WireError) {
        switch frame.kind {
        case .configure: self = .configure(try Configure(frame))
        case .start: self = .start(try Start(frame))
        case .finish: self = .finish(run: frame.subject)
        case .cancel: self = .cancel(try Cancel(frame))
        case .reply: self = .reply(try Reply(frame))
        case .part: self = .part(try ReplyPart(frame))
        case .ready: self = .ready(try Ready(frame))
        case .refused: self = .refused(try Refused(frame))
        case .completed:
            self = .completed(try Completed(frame, payloadBytesMax: payloadBytesMax))
        case .released: self = .released(run: frame.subject)
        case .progress: self = .progress(try Progress(frame))
        case .log: self = .log(try LogLine(frame))
        case .call: self = .call(try Call(frame))
        case .confined: self = .confined(try Confined(frame))
        case .explain: self = .explain(try Explain(frame))
        case .report: self = .report(try Report(frame))
        case .declared: self = .declared(try Declared(frame))
        }
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        switch self {
        case .configure(let message): message.write(to: &packets)
        case .start(let message): message.write(to: &packets)
        case .finish(let run): packets.frame(.finish, subject: run)
        case .cancel(let message): message.write(to: &packets)
        case .reply(let message): message.write(to: &packets)
        case .part(let message): message.write(to: &packets)
        case .ready(let message): message.write(to: &packets)
        case .refused(let message): message.write(to: &packets)
        case .completed(let message): message.write(to: &packets)
        case .released(let run): packets.frame(.released, subject: run)
        case .progress(let message): message.write(to: &packets)
        case .log(let message): message.write(to: &packets)
        case .call(let message): message.write(to: &packets)
        case .confined(let message): message.write(to: &packets)
        case .explain(let message): message.write(to: &packets)
        case .report(let message): message.write(to: &packets)
        case .declared(let message): message.write(to: &packets)
        }
    }

    /// Whether it is written as it was read, byte for byte but for its flags.
    package var isExact: Bool {
        switch self {
        // Readers of these use only the subject.
        case .finish, .released, .explain: false
        // Its lines may come in another order, and what is too much of them is left out.
        case .report: false
        // Long details are cut when they are written.
        case .confined(let message): message.layers.allSatisfy { $0.detail.utf8.count <= 512 }
        default: true
        }
    }
}
