// SPDX-License-Identifier: Apache-2.0

/// When a measure makes a requirement hold and when it makes it fail: every threshold and every time
/// in one place.
package struct FactRule: Equatable, Sendable {
    /// How long all must be good until it holds, nanoseconds.
    package var risesAfter: UInt64 = 0
    /// How long all must be bad until it fails, nanoseconds.
    package var fallsAfter: UInt64 = 0
    /// What it is if the first measure is neither good nor bad.
    package var between = FactValue.fails

    /// Below it on every resource the machine is idle, in per cent.
    package static let idlePressure = 10.0
    /// From there on it is not, in per cent.
    package static let busyPressure = 25.0
    /// Below it the machine is idle, where the kernel measures no pressure.
    package static let idleLoad = 0.5
    /// From there on it is not.
    package static let busyLoad = 1.0
    /// Below it the battery is low, in per cent.
    package static let lowCharge = 20.0
    /// From there on a battery that was low is so no more, in per cent.
    package static let recoveredCharge = 25.0
    /// What must be free of a file system, in per cent.
    package static let freeShare = 5.0
    /// What must be free of a file system.
    package static let freeBytes: UInt64 = 1 << 30

    private static let second: UInt64 = 1_000_000_000

    /// The rule of a requirement.
    package static func of(_ requirement: RequirementSet) -> FactRule {
        switch requirement {
        case .network: FactRule(risesAfter: 2 * second)
        case .idle: FactRule(risesAfter: 60 * second, fallsAfter: 10 * second)
        case .batteryNotLow: FactRule(between: .holds)
        default: FactRule()
        }
    }

    /// That the machine is not under pressure, which keeps back more than what asks for an idle one.
    static let noPressure = FactRule(fallsAfter: 10 * second, between: .holds)

    /// What a measure says.
    enum Signal: Equatable, Sendable {
        case good
        /// Good enough to stay as it is.
        case between
        case bad
        case unknown
    }
}

extension FactMeasure {
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

    /// Good up to `good`, bad above `bad`.
    ///
    /// What is not a number is not valid, as no range contains it.
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
