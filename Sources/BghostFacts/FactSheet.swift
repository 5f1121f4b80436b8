// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// The facts of the machine: one for each requirement.
///
/// It is a value: the same readings at the same times give the same facts.
package struct FactSheet: Equatable, Sendable {
    /// The source of simulated facts.
    package static let simulationSource = "simulate fact"
    /// The most probes of a manifest.
    package static let probesMax = 8

    /// The names of the probes, in the order of their bits.
    package let probes: [String]
    private var facts = [Fact](repeating: Fact(), count: UInt16.bitWidth)
    /// The last reading of each origin, by bit and origin.
    private var tracks = [Track?](
        repeating: nil,
        count: UInt16.bitWidth * FactReading.Origin.allCases.count
    )
    private var simulated = [FactValue?](repeating: nil, count: UInt16.bitWidth)

    private struct Track: Equatable, Sendable {
        var hysteresis: Hysteresis
        var text: String
        var source: String
    }

    /// - Parameter probes: probes after the eighth are omitted, because they have no bit.
    package init(probes: [String] = []) {
        self.probes = Array(probes.prefix(Self.probesMax))
    }

    /// Creates a sheet with given facts and no readings.
    ///
    /// - Parameter facts: in the order of their bits.
    package init(probes: [String], facts: [Fact]) {
        self.init(probes: probes)
        for (bit, fact) in facts.prefix(self.facts.count).enumerated() { self.facts[bit] = fact }
    }

    /// All facts, in the order of their bits.
    package var all: [Fact] { facts }

    /// The fact of a requirement; for several requirements, that of the first.
    package subscript(requirement: RequirementSet) -> Fact {
        requirement.isEmpty ? Fact() : facts[requirement.rawValue.trailingZeroBitCount]
    }

    // MARK: Changes

    /// Applies a reading.
    ///
    /// - Returns: the requirements whose value has changed.
    package mutating func update(_ reading: FactReading, now: Moment) -> RequirementSet {
        var changed: RequirementSet = []
        for requirement in reading.requirement.each {
            let index = place(of: requirement, reading.origin)
            var hysteresis = tracks[index]?.hysteresis ?? Hysteresis(.of(requirement))
            hysteresis.update(reading.measure.signal, now: now.monotonic)
            tracks[index] = Track(
                hysteresis: hysteresis,
                text: reading.text,
                source: reading.source
            )
            if updateValue(requirement, now: now) { changed.insert(requirement) }
        }
        return changed
    }

    /// Applies the passing of time.
    ///
    /// - Returns: the requirements whose value has changed.
    package mutating func advance(now: Moment) -> RequirementSet {
        var changed: RequirementSet = []
        for requirement in due(at: now.monotonic).each {
            for origin in FactReading.Origin.allCases {
                tracks[place(of: requirement, origin)]?.hysteresis.advance(now: now.monotonic)
            }
            if updateValue(requirement, now: now) { changed.insert(requirement) }
        }
        return changed
    }

    /// Sets a simulated value, which overrides all readings; `nil` ends the simulation.
    ///
    /// - Returns: the requirements whose value has changed.
    package mutating func simulate(
        _ requirement: RequirementSet,
        as value: FactValue?,
        now: Moment
    ) -> RequirementSet {
        var changed: RequirementSet = []
        for requirement in requirement.each {
            simulated[requirement.rawValue.trailingZeroBitCount] = value
            if updateValue(requirement, now: now) { changed.insert(requirement) }
        }
        return changed
    }

    /// The simulated requirements, in the order of their bits.
    package var simulations: [SimulatedFact] {
        simulated.enumerated().compactMap { bit, value in
            value.map { SimulatedFact(requirement: RequirementSet(rawValue: 1 << bit), value: $0) }
        }
    }

    /// The same facts with other probes, matched by name.
    ///
    /// - Parameter keepsUPS: whether to keep the readings of the UPS.
    /// - Returns: the new sheet, and the requirements whose value has changed.
    package func renewed(
        probes names: [String],
        keepsUPS: Bool,
        now: Moment
    ) -> (sheet: FactSheet, changed: RequirementSet) {
        var renewed = FactSheet(probes: names)
        let origins = FactReading.Origin.allCases
        for bit in 0..<UInt16.bitWidth {
            var place = bit
            if bit >= 8 {
                guard probes.indices.contains(bit - 8),
                    let index = renewed.probes.firstIndex(of: probes[bit - 8])
                else { continue }
                place = index + 8
            }
            renewed.facts[place] = facts[bit]
            renewed.simulated[place] = simulated[bit]
            for origin in origins where origin != .ups || keepsUPS {
                renewed.tracks[place * origins.count + origin.rawValue] =
                    tracks[bit * origins.count + origin.rawValue]
            }
        }
        guard !keepsUPS else { return (renewed, []) }
        let ups = RequirementSet([.externalPower, .batteryNotLow])
        var changed: RequirementSet = []
        for requirement in ups.each where renewed.updateValue(requirement, now: now) {
            changed.insert(requirement)
        }
        return (renewed, changed)
    }

    // MARK: Time

    /// When to call `advance` next; `nil` if no change is pending.
    package var nextDeadline: MonotonicInstant? {
        var next: MonotonicInstant?
        for case let deadline? in tracks.lazy.map({ $0?.hysteresis.deadline }) {
            next = min(next ?? .never, deadline)
        }
        return next
    }

    /// When an unmet requirement is met if its readings stay as good as they are; `nil` if one
    /// is bad, unknown or simulated.
    package func metTime(of requirement: RequirementSet) -> MonotonicInstant? {
        let index = requirement.rawValue.trailingZeroBitCount
        guard facts[index].value == .fails, simulated[index] == nil else { return nil }
        var latest: MonotonicInstant?
        for origin in FactReading.Origin.allCases {
            guard let track = tracks[place(of: requirement, origin)],
                track.hysteresis.value != .holds
            else { continue }
            guard track.hysteresis.value == .fails, let deadline = track.hysteresis.deadline else {
                return nil
            }
            latest = max(latest ?? .zero, deadline)
        }
        return latest
    }

    /// The requirements whose value changes until then without a further reading.
    ///
    /// The last readings may be old: a caller that can read again does so before `advance`.
    package func due(at monotonic: MonotonicInstant) -> RequirementSet {
        var due: RequirementSet = []
        for (index, track) in tracks.enumerated() {
            guard let deadline = track?.hysteresis.deadline, deadline <= monotonic else { continue }
            due.insert(RequirementSet(rawValue: 1 << (index / FactReading.Origin.allCases.count)))
        }
        return due
    }

    // MARK: The value of a requirement

    private func place(of requirement: RequirementSet, _ origin: FactReading.Origin) -> Int {
        requirement.rawValue.trailingZeroBitCount * FactReading.Origin.allCases.count
            + origin.rawValue
    }

    /// Updates a fact from the readings of all origins: the worst value wins, and for equal values the last
    /// origin.
    private mutating func updateValue(_ requirement: RequirementSet, now: Moment) -> Bool {
        let index = requirement.rawValue.trailingZeroBitCount
        if let value = simulated[index] {
            return facts[index].update(
                value,
                reading: "simulated \(value.word)",
                source: Self.simulationSource,
                at: now.unix
            )
        }
        let told = FactReading.Origin.allCases.compactMap { tracks[place(of: requirement, $0)] }
        for value in [FactValue.fails, .unknown, .holds] {
            guard let track = told.last(where: { $0.hysteresis.value == value }) else { continue }
            return facts[index].update(
                value,
                reading: track.text,
                source: track.source,
                at: now.unix
            )
        }
        // The requirement was simulated until now, and has no source.
        return facts[index].update(.unknown, reading: Fact().reading, source: "", at: now.unix)
    }
}
