// SPDX-License-Identifier: Apache-2.0

/// Whether a condition of the machine is met, or unknown.
///
/// A policy decides what follows from `unknown`.
package enum FactValue: String, Equatable, Codable, Sendable, CaseIterable {
    case holds
    case fails
    case unknown
}

extension FactValue {
    /// The value as a word for people.
    package var word: String {
        switch self {
        case .holds: "met"
        case .fails: "unmet"
        case .unknown: "unknown"
        }
    }
}
