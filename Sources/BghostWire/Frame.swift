// SPDX-License-Identifier: Apache-2.0

/// The layout of every frame between daemon and worker.
///
/// Two SEQPACKET sockets connect them. The *work* socket carries starts to the worker and
/// everything that the worker sends. The *control* socket carries cancels and replies to the
/// worker, so that they arrive while a handler blocks the thread that reads the work socket. A
/// packet contains one or more whole frames, so a reader never gets part of a frame.
///
/// ```
/// 0        4      5         6       8          16
/// | length | kind | version | flags | subject  | payload …
/// ```
/// All integers are little-endian.
///
/// `length` includes the header. `subject` is the number of the run or call that the frame
/// concerns, or 0 for the worker as a whole.
package enum FrameLayout {
    package static let version: UInt8 = 1
    package static let headerBytes = 16
    /// The most bytes of one packet, and so of one frame.
    ///
    /// It is below the kernel's default send buffer (212,992 bytes), so that a packet can always be
    /// sent once the queue is empty.
    package static let packetBytesMax = 128 << 10
}

/// The type of a frame.
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
    case part = 0x12
    /// The daemon is about to kill the worker and asks where its threads are.
    case explain = 0x13
    // To the daemon, on the work socket.
    case ready = 0x81
    case refused = 0x82
    case completed = 0x83
    case released = 0x84
    case progress = 0x85
    case log = 0x86
    case call = 0x87
    case confined = 0x88
    /// Written by a signal handler, see `bghost_crash.h`.
    case report = 0x89
    /// Only from a temporary worker, before `ready`.
    case declared = 0x8A
}

/// Why a frame is invalid.
///
/// The receiver no longer trusts its sender.
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
    /// Valid in itself, but not in this state: a second `ready`, or a message before it.
    case wrongState = 11
    /// It concerns a run that this worker does not have.
    case foreignRun = 12
    case tooManyCalls = 13
    /// Too many log lines and progress reports.
    case flood = 14
    /// The worker can send nothing more, though its process still runs.
    case closedSocket = 15

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
        case .flood: "log lines, steps or calls come far faster than they may"
        case .closedSocket:
            "its socket to the daemon was closed; a plugin must close no descriptors that it did not open"
        }
    }
}

/// A frame with a checked header: its length fits, and its version and kind are known.
package struct Frame: ~Escapable {
    package let kind: FrameKind
    let flags: UInt16
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
