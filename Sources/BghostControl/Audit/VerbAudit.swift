// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostCrypto
internal import BghostLinux
internal import BghostModel
internal import Hummingbird
internal import NIOCore

extension Endpoint {
    /// How a call is audited.
    enum Auditing {
        /// It changes nothing.
        case never
        /// The row is in the transaction of its change.
        case withChange
        /// One row before and one after what is stored nowhere, or elsewhere.
        case around
        /// One row before it, which never stands in the way: a daemon without room stops all the same.
        case before
        /// One row of its own, which never stands in the way.
        case login
    }

    var auditing: Auditing {
        switch self {
        case .submit, .trigger, .cancelAll, .cancel, .cancelTag, .redrive, .discard,
            .clearThrottle, .addUse, .clearUses, .deleteCheckpoint, .disable, .enable, .pause,
            .resume, .act:
            .withChange
        case .expire, .stop, .reload, .backup, .simulateFact, .simulateClock, .testNotification,
            .testAlerts, .drainHost, .undrainHost, .cancelFleetRequest,
            .cancelTransfer, .retryTransfer:
            .around
        case .drain: .before
        case .ticket, .beginSession, .endSession: .login
        case .version, .alive, .ready, .health, .metrics, .status, .runOfRequest, .runs, .run,
            .starts, .days, .past, .plan, .pending, .dead, .checkpoints, .throttle, .uses, .why,
            .outbox,
            .transfers, .logs,
            .audit, .checkAudit, .fleet, .fleetRequests, .pauses, .drainStatus, .alerts:
            .never
        }
    }

    /// The name in the audit.
    var auditVerb: String {
        switch self {
        case .cancelAll: "cancel"
        case .cancelTag: "cancel tag"
        case .deleteCheckpoint: "checkpoint delete"
        case .clearThrottle: "throttle clear"
        case .addUse: "uses add"
        case .clearUses: "uses clear"
        case .cancelFleetRequest: "fleet cancel"
        case .drainHost: "fleet drain"
        case .undrainHost: "fleet undrain"
        case .simulateFact: "simulate fact"
        case .simulateClock: "simulate clock"
        case .testNotification: "notify test"
        case .act: "notify act"
        case .testAlerts: "alerts test"
        case .cancelTransfer: "transfers cancel"
        case .retryTransfer: "transfers retry"
        case .beginSession: "login"
        case .endSession: "logout"
        default: "\(self)"
        }
    }

    /// The query keys that name what a call concerns.
    fileprivate var targetKeys: [String] {
        switch self {
        case .redrive, .discard: ["request", "task"]
        case .simulateFact, .simulateClock: ["set"]
        case .backup: ["folder"]
        case .pause, .resume: ["task", "plugin"]
        default: []
        }
    }
}

/// Answers calls that change something, and notes who made them.
struct VerbAudit: Sendable {
    let audit: any AuditControl

    typealias Context = ControlContext

    /// Answers a call of an endpoint, with the row or the rows that it needs.
    ///
    /// - Parameter check: throws if the caller may not make it.
    func answer(
        _ endpoint: Endpoint,
        _ request: Request,
        _ context: Context,
        check: () throws -> Void,
        _ handler: () async throws -> Response
    ) async throws -> Response {
        let scope = AuditScope(
            await entry(endpoint, request, context),
            isSubmission: endpoint == .submit
        )
        var isBegun = false
        do {
            try check()
            switch endpoint.auditing {
            case .never: return try await handler()
            case .around:
                return try await audit.audited(
                    scope.entry,
                    now: { WallClock.now },
                    code: { Self.code(of: $0) }
                ) {
                    isBegun = true
                    return try await handler()
                }
            case .withChange: return try await answer(endpoint, scope, handler)
            case .before:
                isBegun = true
                await audit.noteLater(scope.entry.with(.begun))
                return try await handler()
            case .login:
                let response = try await AuditScope.$current.withValue(scope) {
                    try await handler()
                }
                await audit.noteBounded(scope.entry.with(.done))
                return response
            }
        } catch let refusal as OperatorRefusal {
            throw ControlFault(refusal)
        } catch {
            // What was begun has its end, and a change that waits for room has its row.
            let code = Self.code(of: error)
            let isNoted = scope.isStored && code != FaultCode.storeFailed.rawValue
            if !isBegun, !isNoted {
                await audit.noteBounded(scope.entry.with(.refused, code: code))
            }
            throw error
        }
    }

    private func answer(
        _ endpoint: Endpoint,
        _ scope: AuditScope,
        _ handler: () async throws -> Response
    ) async throws -> Response {
        // The transaction of a submission is refused as a whole if there is no room.
        if endpoint != .submit { try await requireAudit() }
        let response = try await AuditScope.$current.withValue(scope) { try await handler() }
        guard !scope.isStored, endpoint != .submit else { return response }
        do throws(OperatorRefusal) {
            try await audit.note(scope.entry.with(.unchanged))
        } catch {
            throw ControlFault(error)
        }
        return response
    }

    private func requireAudit() async throws(ControlFault) {
        do throws(OperatorRefusal) {
            try await audit.requireAudit()
        } catch {
            throw ControlFault(error)
        }
    }

    /// Answers a notification through its link, whose user is not known.
    func answerLink(
        to token: String,
        action: String,
        text: String?,
        _ body: () async throws(OperatorRefusal) -> Void
    ) async throws(OperatorRefusal) {
        let name = AuditHead.digits(Array(SHA256.hash(data: Array(token.utf8)).prefix(6)))
        let entry = AuditEntry(
            at: WallClock.now,
            AuditActor(.link, session: name),
            verb: Endpoint.act.auditVerb,
            target: action,
            digest: text.map { SHA256.hash(data: Array($0.utf8)) } ?? [],
            status: .unchanged
        )
        let scope = AuditScope(entry)
        try await audit.requireAudit()
        let result: Result<Void, OperatorRefusal> = await AuditScope.$current.withValue(scope) {
            do throws(OperatorRefusal) {
                try await body()
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        if case .failure(let error) = result {
            await audit.noteBounded(entry.with(.refused, code: FaultCode.text(of: error)))
            throw error
        }
    }

    /// Notes a request that was refused before its endpoint was known.
    func refused(_ request: Request, _ caller: Caller?, _ way: AuditWay, _ code: FaultCode) async {
        let actor = await UserNames.actor(caller, or: way)
        await audit.noteBounded(
            AuditEntry(
                at: WallClock.now,
                actor,
                verb: request.method.rawValue,
                target: request.uri.path,
                status: .refused,
                code: code.rawValue
            )
        )
    }

    private func entry(
        _ endpoint: Endpoint,
        _ request: Request,
        _ context: Context
    ) async -> AuditEntry {
        let query = Query(request)
        let isDashboard = endpoint == .beginSession || endpoint == .endSession
        return AuditEntry(
            at: WallClock.now,
            await UserNames.actor(context.caller, or: isDashboard ? .dashboard : .socket),
            verb: endpoint.auditVerb,
            target: context.parameters.get("id") ?? context.parameters.get("name")
                ?? endpoint.targetKeys.lazy.compactMap(query.text).first ?? "",
            digest: request.uri.query.map { SHA256.hash(data: Array($0.utf8)) } ?? [],
            status: .unchanged
        )
    }

    private static func code(of error: any Error) -> String {
        (Envelope.fault(of: error)?.code ?? .internalError).rawValue
    }
}

extension AuditScope {
    /// Says what the verb under way concerns, and what was sent.
    static func concerns(_ target: String?, body: ByteBuffer) {
        guard let current else { return }
        current.concerns(
            target ?? current.entry.target,
            digest: body.readableBytes == 0
                ? current.entry.digest : SHA256.hash(data: Array(body.readableBytesView))
        )
    }
}
