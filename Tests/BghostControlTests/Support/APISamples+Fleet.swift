// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostModel

extension APISamples {
    static let fleet = FleetStatus(
        name: "web-17",
        validFor: 12_000_000_000,
        hosts: [
            FleetHost(
                name: "web-17",
                version: "0.2.0",
                leaseLeft: 27_000_000_000,
                seenAt: 1_795_262_400_000_000_000,
                claims: 1
            ),
            FleetHost(
                name: "web-18",
                version: "0.2.0",
                leaseLeft: -60_000_000_000,
                seenAt: 1_795_262_300_000_000_000,
                claims: 0
            ),
        ]
    )
}
