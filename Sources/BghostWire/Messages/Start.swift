// SPDX-License-Identifier: Apache-2.0

/// Begins a run.
///
/// The frame's subject is the run's number.
package struct Start: Equatable, Sendable {
    package var run: UInt64
    /// The handler's index in `Ready.handlers`.
    package var handler: UInt16
    package var attempt: UInt32
    /// `CLOCK_MONOTONIC`, nanoseconds.
    package var deadline: Int64
    package var graceMilliseconds: UInt32
    package var resultBytesMax: UInt32
    package var task: String
    /// A JSON object.
    package var parameters: String
    /// Whether the transfers of a session have ended, of which the parameters tell.
    package var isWake: Bool

    package init(
        run: UInt64,
        handler: UInt16,
        attempt: UInt32,
        deadline: Int64,
        graceMilliseconds: UInt32,
        resultBytesMax: UInt32,
        task: String,
        parameters: String,
        isWake: Bool = false
    ) {
        self.run = run
        self.handler = handler
        self.attempt = attempt
        self.deadline = deadline
        self.graceMilliseconds = graceMilliseconds
        self.resultBytesMax = resultBytesMax
        self.task = task
        self.parameters = parameters
        self.isWake = isWake
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.start, flags: handler, subject: run) { fields in
            fields.integer(deadline)
            fields.integer(attempt)
            fields.integer(graceMilliseconds)
            fields.integer(resultBytesMax)
            fields.text(task)
            fields.text(parameters)
            fields.integer(UInt8(isWake ? 1 : 0))
        }
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        var fields = FieldReader(frame.payload)
        run = frame.subject
        handler = frame.flags
        deadline = try fields.integer()
        attempt = try fields.integer()
        graceMilliseconds = try fields.integer()
        resultBytesMax = try fields.integer()
        task = try fields.text(bytesMax: 1024)
        parameters = try fields.text(bytesMax: FrameLayout.packetBytesMax)
        isWake = try fields.integer(UInt8.self) != 0
        try fields.end()
    }
}

/// Asks a run to stop.
///
/// The frame's subject is the run's number, its flags the `BG_WHY_*`.
package struct Cancel: Equatable, Sendable {
    package var run: UInt64
    package var why: UInt32

    package init(run: UInt64, why: UInt32) {
        self.run = run
        self.why = why
    }

    package func write(to packets: inout PacketWriter) -> Bool {
        packets.frame(.cancel, flags: UInt16(truncatingIfNeeded: why), subject: run)
    }

    package init(_ frame: borrowing Frame) throws(WireError) {
        run = frame.subject
        why = UInt32(frame.flags)
        guard frame.payload.isEmpty else { throw .trailingBytes }
    }
}
