// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostModel
import BghostPolicy

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

    static let fleetRequests: [API.FleetRequest] = ["pending", "running", "submitted", "dead"]
        .enumerated().map { number, state in
            let id = RunID(high: 0x0199_C0DE_0000_0000, low: UInt64(number + 1))
            let isDead = state == "dead"
            return API.FleetRequest(
                state: state,
                partition: 17 + number,
                owner: state == "submitted" ? nil : "web-17",
                run: ["running", "dead"].contains(state) ? RunID(high: 1, low: id.low) : nil,
                reason: isDead ? "it failed 5 times" : "",
                diedAt: isDead ? 1_795_262_400_000_000_000 : nil,
                cancelled: state == "running",
                request: API.Request(
                    PendingRequest(
                        id: id,
                        task: "mail.\(number)",
                        submittedAt: 1_795_262_300_000_000_000,
                        parameters: #"{"to":"anna"}"#
                    )
                )
            )
        }

    static let fleetCursor =
        PageCursor.fleetRequest(pool: 0, number: 17, id: RunID(high: 1, low: 2)).text

    static let fleetCancellation = API.FleetCancellation(changed: true, request: fleetRequests[0])

    /// The answer to a drain of web-17, or to its end.
    static func fleetDrain(_ isDrained: Bool) -> FleetDrain {
        var host = fleet.hosts[0]
        host.state = isDrained ? .draining : .live
        host.drainedAt = isDrained ? 1_795_262_401_000_000_000 : nil
        return FleetDrain(host: host, isChanged: true)
    }
}
