// SPDX-License-Identifier: Apache-2.0

/// The layout that every frame between daemon and worker shares.
///
/// Two SEQPACKET sockets join them. The *work* socket carries starts to the worker and everything
/// that the worker says; the *control* socket carries cancels and replies to the worker, so that they
/// arrive while a handler blocks the thread that reads the work socket. A packet holds one or more
/// whole frames, so a frame is never met half read.
///
/// ```
/// 0        4      5         6       8          16
/// | length | kind | version | flags | subject  | payload …
/// ```
/// All integers are little-endian. `length` counts the header. `subject` is the number of the run or
/// of the call that the frame is about, 0 for the worker as a whole.
package enum FrameLayout {
    package static let version: UInt8 = 1
    package static let headerBytes = 16
    /// The most bytes of one packet, and so of one frame: below the kernel's default send buffer
    /// (212,992), so that a packet can always be sent once the queue is empty.
    package static let packetBytesMax = 128 << 10
}

/// What a frame says.
///
/// Numbers are never reused.
package enum FrameKind: UInt8, Sendable, CaseIterable {
    // To the worker, on the work socket.
    case configure = 0x01
    case start = 0x02
    case finish = 0x03
    // To the worker, on the control socket.
    case cancel = 0x10
    case reply = 0x11
    // To the daemon, on the work socket.
    case ready = 0x81
    case refused = 0x82
    case completed = 0x83
    case released = 0x84
    case progress = 0x85
    case log = 0x86
    case call = 0x87
    case confined = 0x88
}

/// A frame that cannot be what it claims to be.
///
/// The sender is not to be trusted any further.
///
/// The raw value appears in the outcome `killed(protocolFault(n))` and is never reused.
package enum WireError: UInt16, Error, Equatable, Sendable, CaseIterable {
    case truncatedHeader = 1
    case lengthMismatch = 2
    case unknownVersion = 3
    case unknownKind = 4
    case truncatedPayload = 5
    case trailingBytes = 6
    case notUTF8 = 7
    case valueOutOfRange = 8
    case wrongDirection = 9
    case oversizedPacket = 10
    /// Well formed, but not now: a second `ready`, or a message before it.
    case wrongState = 11
    /// About a run that this worker does not have.
    case foreignRun = 12
    case tooManyCalls = 13
    /// Log lines and progress without end.
    case flood = 14

    /// One sentence for the log.
    package var sentence: String {
        switch self {
        case .truncatedHeader: "a frame is shorter than its header"
        case .lengthMismatch: "a frame's length does not fit its packet"
        case .unknownVersion: "a frame has a version that this daemon does not speak"
        case .unknownKind: "a frame is of no known kind"
        case .truncatedPayload: "a field reaches beyond its frame"
        case .trailingBytes: "bytes are left over behind the last field of a frame"
        case .notUTF8: "a text is not UTF-8"
        case .valueOutOfRange: "a value is out of its range"
        case .wrongDirection: "a frame came that only the daemon may send"
        case .oversizedPacket: "a packet is larger than the limit"
        case .wrongState: "a frame came out of turn"
        case .foreignRun: "a frame is about a run that this worker does not have"
        case .tooManyCalls: "more calls are open than a run may have"
        case .flood: "log lines or steps come faster than any runtime sends them"
        }
    }
}

/// A frame whose header has been checked: its length fits, its version and kind are known.
package struct Frame: ~Escapable {
    package let kind: FrameKind
    package let flags: UInt16
    package let subject: UInt64
    package let payload: RawSpan

    @_lifetime(copy payload)
    init(kind: FrameKind, flags: UInt16, subject: UInt64, payload: RawSpan) {
        self.kind = kind
        self.flags = flags
        self.subject = subject
        self.payload = payload
    }
}
