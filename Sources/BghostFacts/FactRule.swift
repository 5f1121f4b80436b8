// SPDX-License-Identifier: Apache-2.0

/// The thresholds and delays that decide whether a measure meets a requirement.
struct FactRule: Equatable, Sendable {
    /// How long all measures must be good before the requirement is met, nanoseconds.
    var risesAfter: UInt64 = 0
    /// How long all measures must be bad before the requirement is unmet, nanoseconds.
    var fallsAfter: UInt64 = 0
    /// The value if the first measure is neither good nor bad.
    var between = FactValue.fails

    /// Below this pressure on each resource the machine is idle, per cent.
    static let idlePressure = 10.0
    /// From this pressure on the machine is busy, per cent.
    static let busyPressure = 25.0
    /// Below this load the machine is idle, if the kernel measures no pressure.
    static let idleLoad = 0.5
    /// From this load on the machine is busy.
    static let busyLoad = 1.0
    /// Below this charge the battery is low, per cent.
    static let lowCharge = 20.0
    /// From this charge on a low battery is no longer low, per cent.
    static let recoveredCharge = 25.0
    /// The free space that a file system must have, per cent.
    static let freeShare = 5.0
    /// The free space that a file system must have, bytes.
    static let freeBytes: UInt64 = 1 << 30

    static let second: UInt64 = 1_000_000_000

    /// The rule of a requirement.
    static func of(_ requirement: RequirementSet) -> FactRule {
        // A probe decides by itself.
        StandardRequirement(requirement)?.rule ?? FactRule()
    }

    /// The assessment of a measure.
    enum Signal: Equatable, Sendable {
        case good
        /// Neither good nor bad: the value does not change.
        case between
        case bad
        case unknown
    }
}

extension FactMeasure {
    /// Whether the measure alone meets its requirement; `nil` if it is unknown or between the limits.
    package var isEnough: Bool? {
        switch signal {
        case .good: true
        case .bad: false
        case .between, .unknown: nil
        }
    }

    var signal: FactRule.Signal {
        switch self {
        case .unknown: .unknown
        case .state(let isGood): isGood ? .good : .bad
        case .charge(let percent):
            Self.signal(
                of: -percent,
                good: -FactRule.recoveredCharge,
                bad: -FactRule.lowCharge,
                isValid: (0...100).contains(percent)
            )
        case .pressure(let cpu, let io):
            Self.signal(
                of: max(cpu, io),
                good: FactRule.idlePressure.nextDown,
                bad: FactRule.busyPressure.nextDown,
                isValid: (0...100).contains(cpu) && (0...100).contains(io)
            )
        case .load(let load):
            Self.signal(
                of: load,
                good: FactRule.idleLoad.nextDown,
                bad: FactRule.busyLoad.nextDown,
                isValid: load >= 0 && load.isFinite
            )
        case .space(let percent, let bytes):
            if !(0...100).contains(percent) {
                .unknown
            } else {
                percent >= FactRule.freeShare && bytes >= FactRule.freeBytes ? .good : .bad
            }
        }
    }

    /// Assesses a value: good up to `good`, bad above `bad`.
    ///
    /// NaN is not valid, because no range contains it.
    private static func signal(
        of value: Double,
        good: Double,
        bad: Double,
        isValid: Bool
    ) -> FactRule.Signal {
        guard isValid else { return .unknown }
        if value <= good { return .good }
        return value > bad ? .bad : .between
    }
}
