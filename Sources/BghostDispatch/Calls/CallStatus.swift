// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// The `BG_*` statuses of the daemon's answers to calls of plugins.
package enum CallStatus {
    package static let ok: Int32 = 0
    package static let failed: Int32 = -1
    package static let cancelled: Int32 = -3
    package static let argument: Int32 = -12
    package static let permission: Int32 = -13
    package static let limit: Int32 = -14
    package static let small: Int32 = -15
    package static let stale: Int32 = -10
    package static let absent: Int32 = -16
    package static let kind: Int32 = -17
    package static let notNow: Int32 = -18

    /// The `BG_*` status for a submission that was refused.
    package static func of(_ code: SubmitErrorCode) -> Int32 {
        switch code {
        case .notPermitted: permission
        case .wrongKind: kind
        case .tooManyPendingTaskRequests, .payloadTooLarge: limit
        case .badParameters, .pastLatestBegin, .unfitParameters: argument
        case .immediateRunIneligible: notNow
        case .unavailable, .storeFailed: failed
        }
    }
}

extension TaskKind {
    /// The `BG_KIND_*` value of the kind.
    package var code: UInt32 {
        switch self {
        case .refresh: 1
        case .processing: 2
        // A plugin cannot submit a task of this kind.
        case .notificationAction: 0
        // A plugin cannot submit a task of this kind, so its list of requests never contains one.
        case .urlSession: 0
        }
    }
}
