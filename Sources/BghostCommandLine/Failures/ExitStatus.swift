// SPDX-License-Identifier: Apache-2.0

package import BghostAPI

/// The exit status of the program.
///
/// Values from 64 follow sysexits.
package enum ExitStatus: Int32, Equatable, Sendable, CaseIterable {
    /// The command succeeded: done, healthy, or valid.
    case success = 0
    /// The command ran and failed.
    case failure = 1
    /// No daemon answers.
    case notRunning = 3
    /// No such task, run or request.
    case notFound = 4
    /// `status`: the daemon answers, and the operator must resolve a problem.
    case needsAttention = 5
    case usage = 64
    /// A named file cannot be read.
    case inputMissing = 66
    /// A bug in bghost.
    case internalError = 70
    /// The state directory or the socket is in use or cannot be created.
    case taken = 73
    /// The time limit has passed, or the daemon cannot do this now but may later.
    case tryLater = 75
    case noPermission = 77
    case badManifest = 78

    package init(_ code: FaultCode) {
        switch code {
        case .notRunning: self = .notRunning
        case .noSuchRun, .noSuchTask, .nothingPending, .runNotUnderWay, .noSuchRequest,
            .nothingDead, .noSuchCheckpoint, .notPaused, .noSuchPlugin, .noSuchNotification,
            .noSuchTransfer, .noSuchTag, .noSuchHost, .transferOver:
            self = .notFound
        case .socketPath, .ambiguousRun, .ambiguousRequest, .ambiguousTransfer,
            .ambiguousNotification, .pastLatestBegin, .payloadTooLarge, .badParameters,
            .unfitParameters, .badRequest,
            .bodyTooLarge, .badSimulation, .badAction, .badCursor, .contentType:
            self = .usage
        case .socketTaken, .notASocket, .socketFolder, .storeFailed, .notStored, .auditFailed,
            .backupFailed:
            self = .taken
        case .manifestRefused, .needsRestart, .noDashboard, .noReceiver, .noFleet,
            .noFleetRequests:
            self = .badManifest
        case .unavailable, .tooManyPending, .tooManyFollowers, .stopping, .fleetUnanswered:
            self = .tryLater
        case .socketForbidden, .notPermitted, .readOnly, .foreignPage, .noSession, .badTicket,
            .noSuchSite:
            self = .noPermission
        case .internalError: self = .internalError
        case .versionSkew, .unreadableAnswer, .connectionLost, .immediateRunIneligible,
            .endedWithoutRun, .noSuchRoute, .staleCursor, .countChanged:
            self = .failure
        }
    }

    /// The status of a program that was ended by a signal, as in shells.
    package static func signal(_ number: Int32) -> Int32 { 128 + number }
}
