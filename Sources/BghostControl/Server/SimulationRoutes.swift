// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import Hummingbird

/// The routes for explanations and simulations.
struct SimulationRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        // The id is a query parameter, which is decoded: the pattern of a family ends with a star.
        endpoints.on(.why) { request, _ in try await why(request) }
        endpoints.on(.simulateFact) { request, _ in try await fact(request) }
        endpoints.on(.simulateClock) { request, _ in try await clock(request) }
    }

    private func why(_ request: Request) async throws -> Response {
        guard let id = Query(request).text("id") else {
            throw ControlFault.badRequest("`id` is missing")
        }
        let answer = try await ask { () throws(OperatorRefusal) in try await host.explain(id) }
        return Answer.json(Schema.why, API.Why(answer))
    }

    private func fact(_ request: Request) async throws -> Response {
        let text = try set(request)
        let simulation = try await ask { () throws(OperatorRefusal) in
            try await host.simulate(fact: text)
        }
        return Answer.json(Schema.simulate, simulation)
    }

    private func clock(_ request: Request) async throws -> Response {
        let clock: SimulatedClock
        do {
            clock = try SimulatedClock(try set(request))
        } catch let error as SimulatedClock.Failure {
            throw ControlFault(.badSimulation, error.description)
        }
        let simulation = try await ask { () throws(OperatorRefusal) in
            try await host.simulate(clock: clock)
        }
        return Answer.json(Schema.simulate, simulation)
    }

    private func set(_ request: Request) throws(ControlFault) -> String {
        guard let text = Query(request).text("set") else { throw .badRequest("`set` is missing") }
        return text
    }

    private func ask<Value>(
        _ body: () async throws(OperatorRefusal) -> Value
    ) async throws(ControlFault) -> Value {
        do {
            return try await body()
        } catch {
            throw ControlFault(error)
        }
    }
}
