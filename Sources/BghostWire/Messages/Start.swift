// SPDX-License-Identifier: Apache-2.0

/// Starts a run.
///
/// The frame's subject is the run's number.
package struct Start: Equatable, Sendable {
    /// The most bytes of the two texts about traces, with which those of the ABI have room.
    package static let traceparentBytesMax = 55
    package static let tracestateBytesMax = 512

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
    /// Whether the run was started because the transfers of a session have ended; the parameters
    /// describe them.
    package var isWake: Bool
    /// The run's place in a trace, as W3C Trace Context writes it; "" if it has none.
    package var traceparent: String
    package var tracestate: String
    package var names: RunNames

    package init(
        run: UInt64,
        handler: UInt16,
        attempt: UInt32,
        deadline: Int64,
        graceMilliseconds: UInt32,
        resultBytesMax: UInt32,
        task: String,
        parameters: String,
        isWake: Bool = false,
        traceparent: String = "",
        tracestate: String = "",
        names: RunNames = RunNames()
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
        self.traceparent = traceparent
        self.tracestate = tracestate
        self.names = names
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
            fields.integer(names.runHigh)
            fields.integer(names.runLow)
            fields.integer(names.requestHigh)
            fields.integer(names.requestLow)
            fields.integer(names.epoch)
            fields.text(traceparent)
            fields.text(tracestate)
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
        names = RunNames(
            runHigh: try fields.integer(),
            runLow: try fields.integer(),
            requestHigh: try fields.integer(),
            requestLow: try fields.integer(),
            epoch: try fields.integer()
        )
        traceparent = try fields.text(bytesMax: Self.traceparentBytesMax)
        tracestate = try fields.text(bytesMax: Self.tracestateBytesMax)
        try fields.end()
    }
}

/// The identifiers of a run outside its worker: the halves of two 128-bit ids, and its fencing
/// token.
package struct RunNames: Equatable, Sendable {
    package var runHigh: UInt64
    package var runLow: UInt64
    /// The request's id is the same for all attempts.
    package var requestHigh: UInt64
    package var requestLow: UInt64
    package var epoch: UInt64

    package init(
        runHigh: UInt64 = 0,
        runLow: UInt64 = 0,
        requestHigh: UInt64 = 0,
        requestLow: UInt64 = 0,
        epoch: UInt64 = 0
    ) {
        self.runHigh = runHigh
        self.runLow = runLow
        self.requestHigh = requestHigh
        self.requestLow = requestLow
        self.epoch = epoch
    }
}

/// Cancels a run cooperatively.
///
/// The frame's subject is the run's number, its flags are the `BG_WHY_*`.
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
