// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// A simulated value of a requirement, such as `network=off` or `power=battery`.
package struct SimulatedFact: Equatable, Sendable {
    package var requirement: RequirementSet
    /// `nil` ends the simulation.
    package var value: FactValue?

    /// The error for an invalid text.
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        case noValue
        case unknownName(String, known: [String])
        case unknownValue(String)

        package var description: String {
            switch self {
            case .noValue: "expected NAME=VALUE, as in `network=off`"
            case .unknownName(let name, let known):
                "there is no requirement `\(PrintableText.escaped(String(name.prefix(60))))`;"
                    + " there are \(known.joined(separator: ", "))"
            case .unknownValue(let value):
                "`\(PrintableText.escaped(String(value.prefix(60))))` is not a value; use on, off, unknown, or real to end the simulation"
            }
        }
    }

    init(requirement: RequirementSet, value: FactValue?) {
        self.requirement = requirement
        self.value = value
    }

    /// Parses `NAME=VALUE`.
    ///
    /// - Parameter probes: the names of the manifest's probes, in the order of their bits.
    package init(_ text: some StringProtocol, probes: [String]) throws(Failure) {
        guard let equals = text.firstIndex(of: "=") else { throw .noValue }
        let given = String(text[..<equals])
        let isPower = given == "power"
        let name = isPower ? "externalPower" : given
        guard let requirement = RequirementSet(name: name, probes: probes) else {
            throw .unknownName(name, known: RequirementSet.named.map(\.name) + probes)
        }
        self.requirement = requirement
        let word = String(text[text.index(after: equals)...])
        switch word {
        case "on", "true", "yes", "holds": value = .holds
        case "off", "false", "no", "fails": value = .fails
        case "unknown": value = .unknown
        case "real": value = nil
        case "mains" where isPower: value = .holds
        case "battery" where isPower: value = .fails
        default: throw .unknownValue(word)
        }
    }
}
