// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

extension Error {
    /// What went wrong, for people: the description of a `LocalizedError`, or else the error's own.
    public var localizedDescription: String {
        (self as? any LocalizedError)?.errorDescription ?? "\(self)"
    }
}
