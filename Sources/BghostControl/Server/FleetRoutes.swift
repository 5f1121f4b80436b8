// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Hummingbird

/// The routes for the fleet of the host.
struct FleetRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.fleet) { _, _ in
            Answer.json(Schema.fleet, API.Fleet(await host.fleet()))
        }
        endpoints.on(.drainHost) { _, context in
            try await setDrained(true, context.parameters.require("name"))
        }
        endpoints.on(.undrainHost) { _, context in
            try await setDrained(false, context.parameters.require("name"))
        }
    }

    private func setDrained(_ isDrained: Bool, _ name: String) async throws -> Response {
        do throws(OperatorRefusal) {
            let drain = try await host.setDrained(isDrained, fleetHost: name)
            return Answer.json(Schema.fleetDrain, API.FleetDrainAnswer(drain))
        } catch {
            throw ControlFault(error)
        }
    }
}
