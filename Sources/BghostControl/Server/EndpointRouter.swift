// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostModel
internal import Hummingbird

/// Adds routes for endpoints, and checks the roles and the queries of their requests.
struct EndpointRouter {
    typealias Context = ControlContext
    typealias Handler = @Sendable (Request, Context) async throws -> Response

    let router: Router<Context>
    let audit: VerbAudit
    /// Called with each fault that an endpoint answers, so that tests can compare them with the page.
    let onFault: @Sendable (Endpoint, FaultCode) -> Void

    func on(_ endpoint: Endpoint, _ handler: @escaping Handler) {
        let (onFault, audit) = (onFault, audit)
        router.on(RouterPath(endpoint.path), method: endpoint.method) { request, context in
            do {
                let check = {
                    if endpoint.role == .operate { try Self.checkRole(context.caller) }
                    try Query(request).check(for: endpoint)
                }
                guard Self.isVerb(endpoint, request) else {
                    try check()
                    return try await handler(request, context)
                }
                return try await audit.answer(endpoint, request, context, check: check) {
                    try await handler(request, context)
                }
            } catch let fault as ControlFault {
                onFault(endpoint, fault.code)
                throw fault
            }
        }
    }

    private static func isVerb(_ endpoint: Endpoint, _ request: Request) -> Bool {
        switch endpoint.auditing {
        case .never: return false
        // What is no flag is refused by the endpoint.
        case .around where endpoint == .reload: return (try? Query(request).flag("dryRun")) != true
        case .around, .before, .withChange, .login: return true
        }
    }

    private static func checkRole(_ caller: Caller?) throws(ControlFault) {
        guard caller?.role != .operate else { return }
        let user = caller.map { "user \($0.peer.uid)" } ?? "an unknown user"
        throw ControlFault(
            .readOnly,
            "\(user) may look at this daemon and not change anything",
            fix: "ask its operator, or set `host.controlRole` in its manifest"
        )
    }
}
