// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The error for an invalid time zone file.
package enum ZoneError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file does not start like a compiled zone (TZif).
    case notAZone
    /// The file is larger than any zone needs.
    case tooLarge(bytes: Int)
    /// The file is shorter than its own counts require.
    case cutOff
    /// The zone has leap seconds, like those below `right/`, which Unix time does not have.
    case leapSeconds
    /// A part of the file is invalid.
    case malformed(String)
    /// The rule for the future is invalid.
    case badRule(String)

    package var description: String {
        switch self {
        case .notAZone: "it is no compiled time zone (TZif); install the package tzdata again"
        case .tooLarge(let bytes):
            "it has \(bytes) bytes, and a zone may have \(ZoneTable.bytesMax)"
        case .cutOff: "the file ends too early; install the package tzdata again"
        case .leapSeconds: "it counts leap seconds; name the zone without `right/`"
        case .malformed(let part): "it is damaged: \(part); install the package tzdata again"
        case .badRule(let rule): "its rule for the future cannot be read: \(rule.quoted)"
        }
    }
}
