// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Hummingbird

/// The routes for the end of the daemon.
struct DrainRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.drainStatus) { _, _ in
            Answer.json(Schema.drain, await host.drainStatus())
        }
        endpoints.on(.drain) { request, _ in
            let query = Query(request)
            let seconds = try query.number("within", in: 0...ControlLimits.drainSecondsMax)
            let finishes = try query.flag("finish")
            guard finishes || seconds == nil else {
                throw ControlFault.badRequest("`within` needs `finish=true`")
            }
            let bound = finishes ? seconds.map { Duration.seconds($0) } : .zero
            let waits = try query.flag("wait")
            let status = await host.drain(within: bound)
            return Answer.json(Schema.drain, waits ? await host.drainEnded() : status)
        }
    }
}
