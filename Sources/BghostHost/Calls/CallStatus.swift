// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostPolicy

/// The `BG_*` statuses of the daemon's answers.
enum CallStatus {
    static let ok: Int32 = 0
    static let failed: Int32 = -1
    static let cancelled: Int32 = -3
    static let argument: Int32 = -12
    static let permission: Int32 = -13
    static let limit: Int32 = -14
    static let small: Int32 = -15
    static let stale: Int32 = -10
    static let absent: Int32 = -16
    static let kind: Int32 = -17
    static let notNow: Int32 = -18
}

extension Int32 {
    static func of(_ code: SubmitErrorCode) -> Int32 {
        switch code {
        case .notPermitted: CallStatus.permission
        case .wrongKind: CallStatus.kind
        case .tooManyPendingTaskRequests, .payloadTooLarge: CallStatus.limit
        case .badParameters, .pastLatestBegin, .unfitParameters: CallStatus.argument
        case .immediateRunIneligible: CallStatus.notNow
        case .unavailable, .storeFailed: CallStatus.failed
        }
    }
}

extension TaskKind {
    /// The `BG_KIND_*` value of the kind.
    var code: UInt32 {
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
