// SPDX-License-Identifier: Apache-2.0

package import BghostWire

/// The output of the plugin runtime: the worker's socket, or the daemon itself.
///
/// Any thread may call any function, concurrently. Texts are valid UTF-8 within their limits and
/// are valid only during the call. No function may call back into the plugin.
package protocol RuntimeEventSink: AnyObject, Sendable {
    /// Reports the end of a run.
    ///
    /// `mayWait` says that more output follows on the same thread, so that both may be sent
    /// together.
    func completed(_ completion: RunCompletion, mayWait: Bool)

    /// Reports that the handler has released a run that was already complete: its slot is free.
    func released(_ run: UInt64)

    func progress(run: UInt64, done: UInt64, total: UInt64, phase: UnsafeRawBufferPointer)

    /// - Parameters:
    ///   - run: the run's number, or 0 for the plugin as a whole.
    ///   - dropped: how many lines were dropped before this one, because they exceeded the rate
    ///     limit.
    func log(run: UInt64, level: UInt8, dropped: UInt32, text: UnsafeRawBufferPointer)

    /// Sends a request of the plugin to the daemon; `PluginRuntime.answer` delivers the answer.
    ///
    /// Returns `false` if the request cannot be sent.
    func call(_ number: UInt64, run: UInt64, _ operation: Call.Operation) -> Bool
}

/// The end of a run, as its handler reported it.
package struct RunCompletion {
    package let run: UInt64
    /// `BG_OK` or a `BG_E_*`, never above 0.
    package let status: Int32
    package let retryAfterMilliseconds: Int64
    /// One line, at most `RuntimeLimits.messageBytesMax`.
    package let message: UnsafeRawBufferPointer
    /// JSON, or empty.
    package let payload: UnsafeRawBufferPointer
    package let isReleased: Bool
    /// What the run failed with; `nil` if the handler did not say, or if it did not fail.
    package var error: HandlerError?
}

/// The daemon's answer to a request.
package struct HostAnswer: Sendable {
    package enum Body: Sendable {
        case none
        /// A page, and the start of the next one; 0 after the last page.
        case pending([PendingEntry], next: UInt64)
        case fetched(httpStatus: Int32, headers: String, message: String, body: [UInt8])
        case situation(Situation)
        case checkpoint([UInt8])
        case transfer(id: String)
        /// JSON.
        case transfers([UInt8])
        case needs(UInt64)
    }

    /// `BG_OK` or a `BG_E_*`.
    var status: Int32
    var body: Body

    package init(status: Int32, body: Body = .none) {
        self.status = status
        self.body = body
    }
}

/// The limits of what a plugin may pass to the host.
enum RuntimeLimits {
    static let messageBytesMax = 8 << 10
    static let logBytesMax = 8 << 10
    static let phaseBytesMax = 256
    /// Open requests to the daemon, per plugin.
    static let callsMax = 256
    /// Open sleeps on a clock of the host, per plugin.
    static let sleepsMax = 1 << 16
    /// The timeout of a request that blocks its thread.
    static let callTimeoutSeconds = 5
    /// The most pending requests that a plugin can list.
    static let pendingMax = 1 << 16
    /// Log lines per second.
    static let logLinesPerSecond: UInt32 = 1000
    /// The shortest interval between two progress reports of a run.
    static let progressPeriodNanoseconds: UInt64 = 50_000_000
}
