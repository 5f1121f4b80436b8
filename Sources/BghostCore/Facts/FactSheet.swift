// SPDX-License-Identifier: Apache-2.0

/// All that is known of the machine: one fact for each requirement.
///
/// It is a value: the same readings at the same moments give the same facts.
package struct FactSheet: Equatable, Sendable {
    /// What a simulated fact has as its source.
    package static let simulationSource = "simulate fact"
    /// How many probes a manifest may name.
    package static let probesMax = 8

    /// The names of the probes, in the order of their bits.
    package let probes: [String]
    private var facts = [Fact](repeating: Fact(), count: UInt16.bitWidth)
    /// What each origin says, by bit and origin.
    private var tracks = [Track?](
        repeating: nil,
        count: UInt16.bitWidth * FactReading.Origin.allCases.count
    )
    private var simulated = [FactValue?](repeating: nil, count: UInt16.bitWidth)
    private var noPressure = Hysteresis(.noPressure)

    private struct Track: Equatable, Sendable {
        var hysteresis: Hysteresis
        var text: String
        var source: String
    }

    /// - Parameter probes: those after the eighth are left out, as they have no bit.
    package init(probes: [String] = []) {
        self.probes = Array(probes.prefix(Self.probesMax))
    }

    /// Facts as they are, with no source behind them.
    ///
    /// - Parameter facts: in the order of their bits.
    package init(probes: [String], facts: [Fact]) {
        self.init(probes: probes)
        for (bit, fact) in facts.prefix(self.facts.count).enumerated() { self.facts[bit] = fact }
    }

    /// All facts, in the order of their bits.
    package var all: [Fact] { facts }

    /// The fact of one requirement; of several, that of the first.
    package subscript(requirement: RequirementSet) -> Fact {
        requirement.isEmpty ? Fact() : facts[requirement.rawValue.trailingZeroBitCount]
    }

    /// Whether something has waited for the processor or the disk for so much of the time that what
    /// can wait should.
    package var isUnderPressure: Bool { noPressure.value == .fails }

    // MARK: What changes it

    /// Takes a reading and answers which requirements have another value now.
    package mutating func update(_ reading: FactReading, now: Moment) -> RequirementSet {
        var changed: RequirementSet = []
        for requirement in reading.requirement.each {
            let index = place(of: requirement, reading.origin)
            var hysteresis = tracks[index]?.hysteresis ?? Hysteresis(.of(requirement))
            hysteresis.take(reading.measure.signal, now: now.monotonic)
            tracks[index] = Track(
                hysteresis: hysteresis,
                text: reading.text,
                source: reading.source
            )
            if requirement == .idle {
                noPressure.take(reading.measure.signal, now: now.monotonic)
            }
            if settle(requirement, now: now) { changed.insert(requirement) }
        }
        return changed
    }

    /// Lets time pass up to now and answers which requirements have another value.
    package mutating func advance(now: Moment) -> RequirementSet {
        noPressure.advance(now: now.monotonic)
        var changed: RequirementSet = []
        for requirement in due(at: now.monotonic).each {
            for origin in FactReading.Origin.allCases {
                tracks[place(of: requirement, origin)]?.hysteresis.advance(now: now.monotonic)
            }
            if settle(requirement, now: now) { changed.insert(requirement) }
        }
        return changed
    }

    /// Has a requirement be what somebody says, whatever the sources read; `nil` ends that.
    package mutating func simulate(
        _ requirement: RequirementSet,
        as value: FactValue?,
        now: Moment
    ) -> RequirementSet {
        var changed: RequirementSet = []
        for requirement in requirement.each {
            simulated[requirement.rawValue.trailingZeroBitCount] = value
            if settle(requirement, now: now) { changed.insert(requirement) }
        }
        return changed
    }

    /// The requirements that are what somebody says, in the order of their bits.
    package var simulations: [SimulatedFact] {
        simulated.enumerated().compactMap { bit, value in
            value.map { SimulatedFact(requirement: RequirementSet(rawValue: 1 << bit), value: $0) }
        }
    }

    /// The same facts under other probes, each by its name, and without what a UPS has said that is asked
    /// no more.
    ///
    /// - Returns: those, and the requirements that have another value now.
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
        renewed.noPressure = noPressure
        guard !keepsUPS else { return (renewed, []) }
        let ups = RequirementSet([.externalPower, .batteryNotLow])
        var changed: RequirementSet = []
        for requirement in ups.each where renewed.settle(requirement, now: now) {
            changed.insert(requirement)
        }
        return (renewed, changed)
    }

    // MARK: Time

    /// When `advance` is to be called next, monotonic nanoseconds; `nil` if nothing is on its way.
    package var nextDeadline: UInt64? {
        var next = noPressure.deadline
        for case let deadline? in tracks.lazy.map({ $0?.hysteresis.deadline }) {
            next = min(next ?? .max, deadline)
        }
        return next
    }

    /// The requirements whose value changes by then if nothing else is read.
    ///
    /// Whoever can take a fresh look does so before `advance`: the last one may be old.
    package func due(at monotonic: UInt64) -> RequirementSet {
        var due: RequirementSet = []
        if let deadline = noPressure.deadline, deadline <= monotonic { due.insert(.idle) }
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

    /// Makes one fact of what all origins say: the worst decides, and then the more special one.
    private mutating func settle(_ requirement: RequirementSet, now: Moment) -> Bool {
        let index = requirement.rawValue.trailingZeroBitCount
        if let value = simulated[index] {
            return facts[index].take(
                value,
                reading: "simulated \(value.rawValue)",
                source: Self.simulationSource,
                at: now.unix
            )
        }
        let told = FactReading.Origin.allCases.compactMap { tracks[place(of: requirement, $0)] }
        for value in [FactValue.fails, .unknown, .holds] {
            guard let track = told.last(where: { $0.hysteresis.value == value }) else { continue }
            return facts[index].take(
                value,
                reading: track.text,
                source: track.source,
                at: now.unix
            )
        }
        // Simulated until now, and watched by nobody.
        return facts[index].take(.unknown, reading: Fact().reading, source: "", at: now.unix)
    }
}
