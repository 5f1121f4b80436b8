// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostLinux
internal import BghostModel
internal import Hummingbird

/// Adds routes for endpoints, and checks the roles and the queries of their requests.
struct EndpointRouter {
    typealias Context = ControlContext
    typealias Handler = @Sendable (Request, Context) async throws -> Response

    let router: Router<Context>
    let audit: VerbAudit
    let meter: RequestMeter
    /// Called after each verb, also after one that failed.
    let onVerb: @Sendable () -> Void
    /// Called with each fault that an endpoint answers, so that tests can compare them with the page.
    let onFault: @Sendable (Endpoint, FaultCode) -> Void

    func on(_ endpoint: Endpoint, _ handler: @escaping Handler) {
        let (onFault, onVerb, audit, meter) = (onFault, onVerb, audit, meter)
        router.on(RouterPath(endpoint.path), method: endpoint.method) { request, context in
            let began = Monotonic.now
            func count(_ status: Int) {
                meter.answered(endpoint, status: status, after: Monotonic.now.since(began))
            }
            do {
                let check = {
                    if endpoint.role == .operate { try Self.checkRole(context.caller) }
                    try Query(request).check(for: endpoint)
                }
                let response: Response
                if Self.isVerb(endpoint, request) {
                    defer { onVerb() }
                    response = try await audit.answer(endpoint, request, context, check: check) {
                        try await handler(request, context)
                    }
                } else {
                    try check()
                    response = try await handler(request, context)
                }
                count(Int(response.status.code))
                return response
            } catch let fault as ControlFault {
                onFault(endpoint, fault.code)
                count(fault.code.httpStatus)
                throw fault
            } catch {
                // The client has gone, or its request is not HTTP.
                count(400)
                throw error
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
