// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostModel

extension APISamples {
    static let fleet: FleetStatus = {
        var status = FleetStatus(
            name: "web-17",
            validFor: 12_000_000_000,
            hosts: [
                FleetHost(
                    name: "web-17",
                    version: "0.2.0",
                    lease: 30_000_000_000,
                    leaseLeft: 27_000_000_000,
                    seenAt: 1_795_262_400_000_000_000,
                    claims: 1,
                    tasks: "9f2c41d07be3a586",
                    clock: .init(offset: 3_000_000, error: 1_000_000)
                ),
                FleetHost(
                    name: "web-18",
                    state: .gone,
                    version: "0.2.0",
                    lease: 30_000_000_000,
                    leaseLeft: -60_000_000_000,
                    seenAt: 1_795_262_300_000_000_000,
                    claims: 0,
                    tasks: "9f2c41d07be3a586"
                ),
            ]
        )
        status.findings = status.diagnosis
        return status
    }()

    /// The answer to a drain of web-17, or to its end.
    static func fleetDrain(_ isDrained: Bool) -> FleetDrain {
        var host = fleet.hosts[0]
        host.state = isDrained ? .draining : .live
        host.drainedAt = isDrained ? 1_795_262_401_000_000_000 : nil
        return FleetDrain(host: host, isChanged: true)
    }
}
