// SPDX-License-Identifier: Apache-2.0

/// What became of submissions since the start of the daemon.
///
/// It is a pure value; a submission costs one addition.
package struct SubmissionCounts: Equatable, Sendable {
    /// Why a submission was refused: the values of the label `code`.
    package enum Refusal: String, CaseIterable, Sendable {
        case unavailable
        case tooManyPending = "too_many_pending"
        case notPermitted = "not_permitted"
        case ineligible
        case payloadTooLarge = "payload_too_large"
        case badParameters = "bad_parameters"
        case storeFailed = "store_failed"
        case pastLatestBegin = "past_latest_begin"
        case wrongKind = "wrong_kind"
        case unfitParameters = "unfit_parameters"
    }

    /// The number of requests that were stored.
    package private(set) var stored: UInt64 = 0
    private var refused: [Refusal: UInt64] = [:]

    package init() {}

    /// Counts a request that was stored.
    package mutating func addStored() { stored += 1 }

    /// Counts a refusal.
    package mutating func add(_ refusal: Refusal) { refused[refusal, default: 0] += 1 }

    /// The number of refusals with a reason.
    package func count(_ refusal: Refusal) -> UInt64 { refused[refusal] ?? 0 }
}
