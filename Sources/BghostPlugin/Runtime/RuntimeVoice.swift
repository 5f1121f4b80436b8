// SPDX-License-Identifier: Apache-2.0

/// Where the plugin runtime says what a plugin does: the worker's socket, or the daemon itself.
///
/// Every function may be called on any thread, concurrently. Texts are well-formed UTF-8 within their
/// limits and live only during the call. None may call back into the plugin.
public protocol RuntimeVoice: AnyObject, Sendable {
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
    func call(_ number: UInt64, run: UInt64, _ request: HostRequest) -> Bool
}

/// The end of a run in its handler's words.
public struct RunCompletion {
    public let run: UInt64
    /// A `BG_OK` or `BG_E_*`, never above 0.
    public let status: Int32
    public let retryAfterMilliseconds: Int64
    /// One line, at most `RuntimeLimits.messageBytesMax`.
    public let message: UnsafeRawBufferPointer
    /// JSON, or empty.
    public let payload: UnsafeRawBufferPointer
    public let isReleased: Bool
}

/// What a plugin may ask of the daemon through the extension tables.
public enum HostRequest: Sendable {
    case submit(
        task: String, parameters: String, kind: UInt32, earliestUnixMilliseconds: Int64,
        needs: UInt32)
    case cancelPending(task: String)
    case cancelAllPending
    case pending
    case fetch(HostFetch)
    case cancelFetch(call: UInt64)
}

/// An HTTP request that the daemon is to carry out.
public struct HostFetch: Sendable {
    public var url: String
    public var method: String
    /// Lines `Name: value\n`.
    public var headers: String
    public var body: [UInt8]
    public var bodyFile: String
    public var sendsDigest: Bool
    public var bytesMax: Int64
    public var timeoutMilliseconds: Int64
}

/// The daemon's answer to a request.
public struct HostAnswer: Sendable {
    public enum Body: Sendable {
        case none
        case pending([(task: String, kind: UInt32, earliestUnixMilliseconds: Int64)])
        case fetched(httpStatus: Int32, headers: String, message: String, body: [UInt8])
    }

    /// A `BG_OK` or `BG_E_*`.
    public var status: Int32
    public var body: Body

    public init(status: Int32, body: Body = .none) {
        self.status = status
        self.body = body
    }
}

/// What a plugin may pass over the boundary at once.
public enum RuntimeLimits {
    public static let messageBytesMax = 8 << 10
    public static let logBytesMax = 8 << 10
    public static let phaseBytesMax = 256
    /// Open requests to the daemon, of one plugin.
    public static let callsMax = 256
    /// How long a request that waits is waited for.
    public static let callTimeoutSeconds = 5
    /// Log lines in any one second.
    public static let logLinesPerSecond: UInt32 = 1000
    /// A run's progress is passed on at most this often.
    public static let progressPeriodNanoseconds: UInt64 = 50_000_000
}
