// SPDX-License-Identifier: Apache-2.0

internal import BghostRecords

/// What clients may take of the daemon.
package struct ControlLimits: Equatable, Sendable {
    /// The body of one request.
    package static let bodyBytesMax = 256 << 10
    /// The head of one request, all fields together.
    package static let headBytesMax = 16 << 10
    package static let headFieldsMax = 64
    package static let runsMax = 1000
    package static let pendingMax = 10_000
    package static let deadLettersMax = 1000
    /// The parameters of all requests in one answer.
    package static let parametersBytesMax = 16 << 20
    /// Why a plugin is switched off.
    package static let reasonBytesMax = 1 << 10
    package static let logLinesMax = 10_000

    /// Connections at a time; further ones wait in the kernel's queue.
    ///
    /// Members of the control group have half of them at the most.
    package var connectionsMax = 64
    /// For a first request from the connection on, and for each body from its head on.
    package var receiveTime: Duration = .seconds(10)
    /// Between an answer and the next request.
    package var idleTime: Duration = .seconds(10)
    /// For a client to take some more of an answer that it was sent.
    package var stallTime: Duration = .seconds(10)

    package init() {}
}

extension ControlFault {
    static let bodyTooLarge = ControlFault(
        .bodyTooLarge,
        "the request is larger than \(ControlLimits.bodyBytesMax >> 10) KiB"
    )
}
