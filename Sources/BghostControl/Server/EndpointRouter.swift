// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Hummingbird

/// Adds routes for endpoints, and checks the queries of their requests.
struct EndpointRouter {
    typealias Context = BasicRequestContext
    typealias Handler = @Sendable (Request, Context) async throws -> Response

    let router: Router<Context>
    /// Called with each fault that an endpoint answers, so that tests can compare them with the page.
    let onFault: @Sendable (Endpoint, FaultCode) -> Void

    func on(_ endpoint: Endpoint, _ handler: @escaping Handler) {
        let onFault = onFault
        router.on(RouterPath(endpoint.path), method: endpoint.method) { request, context in
            do {
                try Query(request).check(for: endpoint)
                return try await handler(request, context)
            } catch let fault as ControlFault {
                onFault(endpoint, fault.code)
                throw fault
            }
        }
    }
}
