// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts

/// Seconds as monotonic nanoseconds.
func seconds(_ seconds: Double) -> UInt64 { UInt64((seconds * 1e9).rounded()) }

/// Seconds as a moment on both clocks; the wall clock began a day earlier.
func moment(_ seconds: Double) -> Moment {
    Moment(
        monotonic: UInt64((seconds * 1e9).rounded()),
        unix: Int64((seconds * 1e9).rounded()) + 86_400_000_000_000
    )
}

extension FactSheet {
    mutating func take(
        _ requirement: RequirementSet,
        _ measure: FactMeasure,
        at seconds: Double,
        text: String = "read",
        origin: FactReading.Origin = .machine
    ) -> RequirementSet {
        update(
            FactReading(requirement, measure, text: text, source: "\(origin)", origin: origin),
            now: moment(seconds)
        )
    }

    mutating func pass(to seconds: Double) -> RequirementSet { advance(now: moment(seconds)) }
}
