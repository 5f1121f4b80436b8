// SPDX-License-Identifier: Apache-2.0

/// What a runtime is told of the run that it is to begin.
package struct RunStart: Sendable {
    /// Never 0; its lowest `LaneNumber.bits` bits are a lane that is free.
    package var run: UInt64
    /// An index into `PluginRuntime.handlers`.
    package var handler: Int
    package var attempt: UInt32
    /// `CLOCK_MONOTONIC` nanoseconds.
    package var deadline: Int64
    package var graceMilliseconds: UInt32
    package var resultBytesMax: UInt32
    package var task: String
    /// A JSON object.
    package var parameters: String

    package init(
        run: UInt64,
        handler: Int,
        attempt: UInt32,
        deadline: Int64,
        graceMilliseconds: UInt32,
        resultBytesMax: UInt32,
        task: String,
        parameters: String
    ) {
        self.run = run
        self.handler = handler
        self.attempt = attempt
        self.deadline = deadline
        self.graceMilliseconds = graceMilliseconds
        self.resultBytesMax = resultBytesMax
        self.task = task
        self.parameters = parameters
    }
}
