// SPDX-License-Identifier: Apache-2.0

/// Why bytes are no time zone.
package enum ZoneError: Error, Equatable, Sendable, CustomStringConvertible {
    /// They do not begin as a compiled zone (TZif) does.
    case notAZone
    /// More than any zone needs.
    case tooLarge(bytes: Int)
    /// They end before what their own counts announce.
    case cutOff
    /// The zone counts leap seconds, as those below `right/` do, which Unix time does not.
    case leapSeconds
    /// A part of them contradicts the format.
    case malformed(String)
    /// The rule for the future cannot be read.
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
