// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFacts
import BghostTestSupport

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
