// SPDX-License-Identifier: Apache-2.0

/// Whether something holds of the machine, as far as that can be told.
///
/// Not to know is an answer of its own: what follows from it is the policy's to say.
package enum FactValue: String, Equatable, Codable, Sendable, CaseIterable {
    case holds
    case fails
    case unknown
}
