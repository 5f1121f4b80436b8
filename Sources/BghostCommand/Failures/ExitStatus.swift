// SPDX-License-Identifier: Apache-2.0

package import BghostRecords

/// What the program's exit status means.
///
/// Those from 64 are of the sysexits family.
package enum ExitStatus: Int32, Equatable, Sendable, CaseIterable {
    /// Done, healthy, valid.
    case success = 0
    /// It ran and failed.
    case failure = 1
    /// No daemon answers.
    case notRunning = 3
    /// No such task, run or request.
    case notFound = 4
    case usage = 64
    /// A file that was named cannot be read.
    case inputMissing = 66
    /// A bug in bghost.
    case internalError = 70
    /// The state directory or the socket is taken or cannot be made.
    case taken = 73
    /// The time for waiting is over, or the daemon cannot do it now and may later.
    case tryLater = 75
    case noPermission = 77
    case badManifest = 78

    package init(_ code: FaultCode) {
        switch code {
        case .notRunning: self = .notRunning
        case .noSuchRun, .noSuchTask, .nothingPending, .runNotUnderWay, .noSuchRequest,
            .nothingDead, .noSuchPlugin, .noSuchNotification, .noSuchTransfer, .transferOver:
            self = .notFound
        case .socketPath, .ambiguousRun, .ambiguousRequest, .pastLatestBegin, .payloadTooLarge,
            .badParameters, .badRequest,
            .bodyTooLarge, .badSimulation, .badAction:
            self = .usage
        case .socketTaken, .notASocket, .socketFolder, .storeFailed, .backupFailed:
            self = .taken
        case .manifestRefused, .needsRestart: self = .badManifest
        case .unavailable, .tooManyPending, .stopping: self = .tryLater
        case .socketForbidden, .notPermitted, .readOnly: self = .noPermission
        case .internalError: self = .internalError
        case .versionSkew, .unreadableAnswer, .connectionLost, .immediateRunIneligible,
            .endedWithoutRun, .noSuchRoute:
            self = .failure
        }
    }

    /// The status of a program that a signal ended, as shells count.
    package static func signal(_ number: Int32) -> Int32 { 128 + number }
}
