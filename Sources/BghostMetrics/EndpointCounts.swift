// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The requests of one endpoint of the control API.
package struct EndpointCounts: Equatable, Sendable {
    /// How a request ended: the values of the label `answer`.
    package enum Answer: String, CaseIterable, Sendable {
        case ok
        /// The client could have known better, or may not.
        case refused
        /// The daemon could not do it.
        case failed

        /// - Parameter status: of HTTP.
        package init(status: Int) {
            switch status {
            case ..<400: self = .ok
            case ..<500: self = .refused
            default: self = .failed
            }
        }
    }

    /// The most endpoints that the daemon may have.
    package static let endpointsMax = 64

    private var answers: [Answer: UInt64] = [:]
    /// How long the answers took until they began, together, nanoseconds.
    package private(set) var duration: UInt64 = 0

    package init() {}

    /// Counts an answer.
    ///
    /// - Parameter duration: since the request came, nanoseconds.
    package mutating func add(_ answer: Answer, after duration: UInt64) {
        answers[answer, default: 0] += 1
        self.duration = self.duration.addingClamped(duration)
    }

    /// The number of answers of a kind.
    package func count(_ answer: Answer) -> UInt64 { answers[answer] ?? 0 }
}
