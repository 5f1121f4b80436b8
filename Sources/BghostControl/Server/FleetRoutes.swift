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
        endpoints.on(.fleetRequests) { request, _ in
            let question = try Query(request).fleetRequestQuestion()
            return try await answer(Schema.fleetRequests) { () throws(OperatorRefusal) in
                try await host.fleetRequests(question)
            }
        }
        endpoints.on(.cancelFleetRequest) { _, context in
            let id = try context.parameters.require("id")
            return try await answer(Schema.fleetCancel) { () throws(OperatorRefusal) in
                try await host.cancelInFleet(id)
            }
        }
        endpoints.on(.drainHost) { _, context in
            try await setDrained(true, context.parameters.require("name"))
        }
        endpoints.on(.undrainHost) { _, context in
            try await setDrained(false, context.parameters.require("name"))
        }
    }

    private func setDrained(_ isDrained: Bool, _ name: String) async throws -> Response {
        try await answer(Schema.fleetDrain) { () throws(OperatorRefusal) in
            API.FleetDrainAnswer(try await host.setDrained(isDrained, fleetHost: name))
        }
    }

    private func answer<Value: Encodable & Sendable>(
        _ schema: AnswerSchema<Value>,
        _ ask: () async throws(OperatorRefusal) -> Value
    ) async throws -> Response {
        do throws(OperatorRefusal) {
            return Answer.json(schema, try await ask())
        } catch {
            throw ControlFault(error)
        }
    }
}
