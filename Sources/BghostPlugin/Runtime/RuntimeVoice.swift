// SPDX-License-Identifier: Apache-2.0

package import BghostWire

/// Where the plugin runtime says what a plugin does: the worker's socket, or the daemon itself.
///
/// Every function may be called on any thread, concurrently. Texts are well-formed UTF-8 within their
/// limits and live only during the call. None may call back into the plugin.
package protocol RuntimeVoice: AnyObject, Sendable {
    /// A run is over. `mayWait` says that more is about to follow on the same thread, so that it may
    /// be sent together.
    func completed(_ completion: RunCompletion, mayWait: Bool)

    /// The handler has let go of a run that had been completed before: its lane is free.
    func released(_ run: UInt64)

    func progress(run: UInt64, done: UInt64, total: UInt64, phase: UnsafeRawBufferPointer)

    /// - Parameters:
    ///   - run: 0 for the plugin as a whole.
    ///   - dropped: how many lines were lost before this one because they came too fast.
    func log(run: UInt64, level: UInt8, dropped: UInt32, text: UnsafeRawBufferPointer)

    /// The plugin asks for something; `PluginRuntime.answer` brings the answer. `false` if the request
    /// cannot be carried.
    func call(_ number: UInt64, run: UInt64, _ operation: Call.Operation) -> Bool
}

/// The end of a run in its handler's words.
package struct RunCompletion {
    package let run: UInt64
    /// A `BG_OK` or `BG_E_*`, never above 0.
    package let status: Int32
    package let retryAfterMilliseconds: Int64
    /// One line, at most `RuntimeLimits.messageBytesMax`.
    package let message: UnsafeRawBufferPointer
    /// JSON, or empty.
    package let payload: UnsafeRawBufferPointer
    package let isReleased: Bool
}

/// The daemon's answer to a request.
package struct HostAnswer: Sendable {
    package enum Body: Sendable {
        case none
        case pending([(task: String, kind: UInt32, earliestUnixMilliseconds: Int64)])
        case fetched(httpStatus: Int32, headers: String, message: String, body: [UInt8])
        case situation(Situation)
        case transfer(id: String)
        /// JSON.
        case transfers([UInt8])
        case needs(UInt64)
    }

    /// A `BG_OK` or `BG_E_*`.
    package var status: Int32
    package var body: Body

    package init(status: Int32, body: Body = .none) {
        self.status = status
        self.body = body
    }
}

/// What a plugin may pass over the boundary at once.
package enum RuntimeLimits {
    package static let messageBytesMax = 8 << 10
    package static let logBytesMax = 8 << 10
    package static let phaseBytesMax = 256
    /// Open requests to the daemon, of one plugin.
    package static let callsMax = 256
    /// How long a request that waits is waited for.
    package static let callTimeoutSeconds = 5
    /// Log lines in any one second.
    package static let logLinesPerSecond: UInt32 = 1000
    /// A run's progress is passed on at most this often.
    package static let progressPeriodNanoseconds: UInt64 = 50_000_000
}
