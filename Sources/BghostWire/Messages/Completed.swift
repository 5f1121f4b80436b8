// SPDX-License-Identifier: Apache-2.0

/// What a run failed with, as its handler says it; a part that is "" or 0 is unknown.
package struct HandlerError: Equatable, Sendable {
    package static let typeBytesMax = 256
    package static let fileBytesMax = 512

    /// The type of the error.
    package var type: String
    /// The source file.
    package var file: String
    /// The line of the file, from 1.
    package var line: UInt32

    package init(type: String, file: String, line: UInt32) {
        self.type = type
        self.file = file
        self.line = line
    }

    package func write(to fields: inout FieldWriter) {
        fields.integer(line)
        fields.text(type)
        fields.text(file)
    }

    init(_ fields: inout FieldReader) throws(WireError) {
        line = try fields.integer()
        type = try fields.text(bytesMax: Self.typeBytesMax)
        file = try fields.text(bytesMax: Self.fileBytesMax)
    }
}

/// The end of a run as its handler reported it.
///
/// The frame's subject is the run's number.
package struct Completed: Equatable, Sendable {
    static let messageBytesMax = 8 << 10

    package var run: UInt64
    /// 0 or negative.
    package var status: Int32
    package var retryAfterMilliseconds: Int64
    package var message: String
    /// JSON or "".
    package var payload: String
    /// Whether the handler has also released the run, so that its slot is free.
    package var isReleased: Bool
    /// Whether the worker asks to be replaced once it is idle.
    package var isWorn: Bool
    /// Whether the worker has ever printed, so that its pipes may hold output.
    package var hasPrinted: Bool
    /// What it failed with; `nil` if the handler did not say.
    package var error: HandlerError?

    package init(
        run: UInt64,
        status: Int32,
        retryAfterMilliseconds: Int64 = 0,
        message: String = "",
        payload: String = "",
        isReleased: Bool,
        isWorn: Bool = false,
        hasPrinted: Bool = false,
        error: HandlerError? = nil
    ) {
        self.run = run
        self.status = status
        self.retryAfterMilliseconds = retryAfterMilliseconds
        self.message = message
        self.payload = payload
        self.isReleased = isReleased
        self.isWorn = isWorn
        self.hasPrinted = hasPrinted
        self.error = error
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(
            .completed,
            flags: (isReleased ? 1 : 0) | (isWorn ? 2 : 0) | (hasPrinted ? 4 : 0)
                | (error == nil ? 0 : 8),
            subject: run
        ) { fields in
            fields.integer(retryAfterMilliseconds)
            fields.integer(status)
            fields.text(message)
            fields.text(payload)
            error?.write(to: &fields)
        }
    }

    /// - Parameter payloadBytesMax: the limit that the daemon gave the run.
    package init(_ frame: borrowing Frame, payloadBytesMax: Int) throws(WireError) {
        var fields = FieldReader(frame.payload)
        run = frame.subject
        isReleased = frame.flags & 1 != 0
        isWorn = frame.flags & 2 != 0
        hasPrinted = frame.flags & 4 != 0
        retryAfterMilliseconds = try fields.integer()
        status = try fields.integer()
        message = try fields.text(bytesMax: Self.messageBytesMax)
        payload = try fields.text(bytesMax: payloadBytesMax)
        if frame.flags & 8 != 0 { error = try HandlerError(&fields) }
        try fields.end()
        guard status <= 0 else { throw .valueOutOfRange }
    }
}

/// The progress of a run.
///
/// The frame's subject is the run's number.
package struct Progress: Equatable, Sendable {
    static let phaseBytesMax = 256

    package var run: UInt64
    package var done: UInt64
    package var total: UInt64
    package var phase: String

    package init(run: UInt64, done: UInt64, total: UInt64, phase: String) {
        self.run = run
        self.done = done
        self.total = total
        self.phase = phase
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.progress, subject: run) { fields in
            fields.integer(done)
            fields.integer(total)
            fields.text(phase)
        }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        run = frame.subject
        done = try fields.integer()
        total = try fields.integer()
        phase = try fields.text(bytesMax: Self.phaseBytesMax)
        try fields.end()
    }
}

/// One line of a handler's log.
///
/// The frame's subject is the run's number, or 0.
package struct LogLine: Equatable, Sendable {
    static let textBytesMax = 8 << 10

    package var run: UInt64
    /// From 0 (trace) to 5 (fault).
    package var level: UInt8
    /// How many lines the worker dropped before this one, because they exceeded the rate limit.
    package var dropped: UInt32
    package var text: String

    package init(run: UInt64, level: UInt8, dropped: UInt32, text: String) {
        self.run = run
        self.level = level
        self.dropped = dropped
        self.text = text
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.log, flags: UInt16(level), subject: run) { fields in
            fields.integer(dropped)
            fields.text(text)
        }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        run = frame.subject
        guard frame.flags <= 5 else { throw .valueOutOfRange }
        level = UInt8(frame.flags)
        dropped = try fields.integer()
        text = try fields.text(bytesMax: Self.textBytesMax)
        try fields.end()
    }
}
