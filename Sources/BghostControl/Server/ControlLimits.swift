// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI

/// The limits for clients of the control socket.
package struct ControlLimits: Equatable, Sendable {
    /// The maximum length of a request's body, bytes.
    package static let bodyBytesMax = 256 << 10
    /// The maximum length of a request's head with all fields, bytes.
    static let headBytesMax = 16 << 10
    static let headFieldsMax = 64
    /// The maximum number of names in one question.
    package static let namesMax = 64
    package static let runsMax = 1000
    static let runsUsual = 50
    package static let pendingMax = 10_000
    static let pendingUsual = 1000
    package static let deadLettersMax = 1000
    static let deadLettersUsual = 100
    package static let fleetRequestsMax = 1000
    static let fleetRequestsUsual = 100
    package static let checkpointsMax = 1000
    static let checkpointsUsual = 100
    package static let transfersMax = 10_000
    static let transfersUsual = 1000
    /// The largest number of requests or dead letters that a caller may expect.
    package static let expectedMax = 1_000_000_000
    /// The longest plan, hours: 366 days.
    static let planHoursMax = 366 * 24
    static let planHoursUsual = 168
    /// The most starts of a plan.
    static let planMax = 5000
    static let planUsual = 1000
    /// The starts of one task, of a client that does not say: each hour of a week fits.
    static let planEachUsual = 200
    /// The maximum length of the parameters of all requests in one response, bytes.
    static let parametersBytesMax = 16 << 20
    /// The longest bound of a drain, seconds: 30 days.
    package static let drainSecondsMax = 30 * 86_400
    /// The longest pause for a duration, seconds: a century.
    package static let pauseSecondsMax = 36_500 * 86_400
    /// The maximum length of the reason for disabling a plugin or for a pause, bytes.
    package static let reasonBytesMax = 1 << 10
    package static let logLinesMax = 10_000
    static let logLinesUsual = 200

    /// The maximum number of connections; further ones wait in the kernel's queue.
    ///
    /// Members of the control group can have at most half of them.
    var connectionsMax = 64
    /// The time limit for a first request after the connection, and for each body after its head.
    var receiveTime: Duration = .seconds(10)
    /// The time limit between a response and the next request.
    var idleTime: Duration = .seconds(10)
    /// The time limit for a client to receive more of its response.
    var stallTime: Duration = .seconds(10)
    /// How long the daemon's main thread may take to answer a question of its health.
    var answerTime: Duration = .seconds(1)

    init() {}
}

extension ControlFault {
    static let bodyTooLarge = ControlFault(
        .bodyTooLarge,
        "the request is larger than \(ControlLimits.bodyBytesMax >> 10) KiB"
    )
}
