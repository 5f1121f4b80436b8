// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostStore
internal import BghostTransfer
internal import BghostWire
internal import Glibc

/// What plugins ask of the daemon. Each call gets exactly one reply as long as its carrier lives.
extension Host {
    func called(_ call: Call, by carrier: Carrier) throws(WireError) {
        if call.run != 0 {
            let lane = Lane.of(call.run)
            guard lane < carrier.lanes.count, carrier.lanes[lane] == call.run else {
                throw .foreignRun
            }
        }
        if case .transfer(.took(let wait)) = call.operation {
            return transferWasTaken(wait, carrier)
        }
        guard carrier.openCalls < HostLimits.callsMax else { throw .tooManyCalls }
        switch call.operation {
        case .submit(let task, let parameters, let kind, let earliest, let needs):
            submit(call, carrier, task, parameters, kind, earliest, needs)
        case .cancelPending(let task): cancelPending(call, carrier, task)
        case .cancelAllPending:
            let requests = scheduler.pending(ofPlugin: carrier.plugin.index).map(\.request)
            for request in requests { withdraw(request.task) }
            answer(call, carrier, CallStatus.ok)
        case .pending: answerPending(call, carrier)
        case .fetch(let fetch): beginFetch(call, carrier, fetch)
        case .cancelFetch(let number):
            carrier.fetches[number]?.task.cancel()
            answer(call, carrier, CallStatus.ok)
        case .situation(let run): answerSituation(call, carrier, run)
        case .post(let notification): post(call, carrier, notification)
        case .withdrawNotification(let id): withdrawNotification(call, carrier, id)
        case .notifications: answerNotifications(call, carrier)
        case .transfer(let transfer): transferCalled(call, carrier, transfer)
        }
    }

    func answer(_ call: Call, _ carrier: Carrier, _ status: Int32) {
        sendReply(Reply(call: call.number, status: status), to: carrier)
    }

    /// Whether a plugin may submit a task: one that it handles itself, or one that it is granted.
    private func mayUse(_ plugin: PluginSlot, _ task: String) -> Bool {
        guard let index = scheduler.catalog.task(for: task) else { return false }
        return scheduler.catalog.plugin(ofTask: index).name == plugin.name
            || plugin.permissions.submit.contains { $0.matches(task) }
    }

    func refuse(_ call: Call, _ carrier: Carrier, _ status: Int32, _ why: String) {
        // As many lines as it may write itself: they would be its way around that.
        if (carrier as? Worker).map({ $0.sayings.admit(now: now) == .taken }) ?? true {
            let record = runs.index(of: call.run).flatMap { runs[$0]?.record }
            log.write(
                .warning,
                "call.refused",
                why,
                task: record?.task,
                plugin: carrier.plugin.name,
                run: record?.id
            )
        }
        answer(call, carrier, status)
    }

    // MARK: Requests

    private func submit(
        _ call: Call,
        _ carrier: Carrier,
        _ task: String,
        _ parameters: String,
        _ kind: UInt32,
        _ earliest: Int64,
        _ needs: UInt32
    ) {
        let shown = PrintableText.escaped(String(task.prefix(200)))
        guard mayUse(carrier.plugin, task) else {
            refuse(
                call,
                carrier,
                CallStatus.permission,
                "plugin `\(carrier.plugin.name)` may not submit `\(shown)`: grant it in"
                    + " `permissions.submit` of \(configuration.manifestPath)"
            )
            return
        }
        guard kind <= 2, earliest >= 0, earliest <= Int64.max / 1_000_000 else {
            answer(call, carrier, CallStatus.argument)
            return
        }
        guard let requirements = RequirementSet(needs: needs) else {
            answer(call, carrier, CallStatus.argument)
            return
        }
        guard requirements.isSubset(of: watched) else {
            refuse(
                call,
                carrier,
                CallStatus.absent,
                "a request for `\(shown)` needs what is not watched: let its task be of the kind"
                    + " processing, or name it under its `requires`"
            )
            return
        }
        let submission = Submission(
            task: task,
            parameters: parameters.isEmpty ? "{}" : parameters,
            earliestBegin: earliest == 0 ? nil : earliest * 1_000_000,
            requirements: requirements
        )
        let run = runs.index(of: call.run).flatMap { runs[$0] }
        do {
            let made = try arrival(
                of: submission,
                by: run.map { .run($0.record.id) } ?? .operator
            )
            // A handler's submission replaces what is pending.
            guard let made else { return answer(call, carrier, CallStatus.ok) }
            store(made, for: call, of: carrier)
        } catch {
            refuse(call, carrier, .of(error.code), error.message)
        }
    }

    /// Stores a plugin's request; the plugin is answered once it is stored, also if its run or its
    /// worker has ended by then.
    private func store(_ arrival: Arrival, for call: Call, of carrier: Carrier) {
        let serial = carrier.serial
        carrier.openCalls += 1
        store(arrival) { [weak self] result in
            self?.assumeIsolated { $0.stored(result, call: call, serial: serial) }
        }
    }

    private func stored(_ result: Result<Void, StoreError>, call: Call, serial: UInt32) {
        guard let carrier = carriers[serial] else { return }
        carrier.openCalls -= 1
        switch result {
        case .success: answer(call, carrier, CallStatus.ok)
        case .failure: answer(call, carrier, CallStatus.failed)
        }
    }

    private func cancelPending(_ call: Call, _ carrier: Carrier, _ task: String) {
        guard mayUse(carrier.plugin, task) else {
            answer(call, carrier, CallStatus.permission)
            return
        }
        answer(call, carrier, withdraw(task) ? CallStatus.ok : CallStatus.absent)
    }

    @discardableResult
    private func withdraw(_ identifier: String) -> Bool {
        decide { scheduler, now, effects in
            scheduler.withdraw(identifier, now: now, &effects)
        }
    }

    private func answerPending(_ call: Call, _ carrier: Carrier) {
        let entries = scheduler.pending(ofPlugin: carrier.plugin.index).prefix(256).map {
            PendingEntry(
                task: $0.request.task,
                kind: $0.kind.code,
                earliestUnixMilliseconds: ($0.request.earliestBegin ?? 0) / 1_000_000
            )
        }
        sendReply(
            Reply(call: call.number, status: CallStatus.ok, body: .pending(entries)),
            to: carrier
        )
    }

    // MARK: Fetches

    private func beginFetch(_ call: Call, _ carrier: Carrier, _ fetch: FetchCall) {
        guard carrier.fetches[call.number] == nil, runs.index(of: call.run) != nil else {
            fetchEnded(call.number, carrier.serial, .failure(.cancelled))
            return
        }
        let request: FetchRequest
        do {
            request = try FetchRequest(fetch, readable: carrier.plugin.readable)
        } catch {
            fetchEnded(call.number, carrier.serial, .failure(error))
            return
        }
        let grants = carrier.plugin.permissions.network
        let fetcher = configuration.fetcher
        let serial = carrier.serial
        let number = call.number
        carrier.openCalls += 1
        // Awaited by nobody; `endCalls` and the end of the carrier cancel it.
        let task = Task.detached { [weak self] in
            let result: Result<FetchResponse, FetchFailure>
            do throws(FetchFailure) {
                result = .success(
                    try await fetcher.fetch(request) { host, port in
                        grants.contains { $0.allows(host: host, port: port) }
                    }
                )
            } catch {
                result = .failure(error)
            }
            await self?.fetchEnded(number, serial, result, isCounted: true)
        }
        carrier.fetches[number] = Carrier.OpenFetch(run: call.run, task: task)
    }

    private func fetchEnded(
        _ number: UInt64,
        _ serial: UInt32,
        _ result: Result<FetchResponse, FetchFailure>,
        isCounted: Bool = false
    ) {
        guard let carrier = carriers[serial] else { return }
        if isCounted {
            carrier.openCalls -= 1
            carrier.fetches[number] = nil
        }
        switch result {
        case .success(let response):
            let headers = response.headers.map { "\($0.0): \($0.1)\n" }.joined()
            sendReply(
                Reply(
                    call: number,
                    status: CallStatus.ok,
                    body: .fetched(
                        httpStatus: Int32(response.status),
                        headers: headers,
                        message: "",
                        body: .inline(response.body)
                    )
                ),
                to: carrier
            )
        case .failure(let failure):
            log.write(.debug, "fetch.failed", "\(failure)", plugin: carrier.plugin.name)
            sendReply(
                Reply(
                    call: number,
                    status: .of(failure),
                    body: .fetched(
                        httpStatus: 0,
                        headers: "",
                        message: "\(failure)",
                        body: .inline([])
                    )
                ),
                to: carrier
            )
        }
    }

    /// Ends what a run still has under way: attached fetches end with it.
    func endCalls(of run: UInt64, in carrier: Carrier) {
        endTransferWaits(of: run, in: carrier)
        guard !carrier.fetches.isEmpty else { return }
        for fetch in carrier.fetches.values where fetch.run == run { fetch.task.cancel() }
    }
}

/// The `BG_*` statuses that the daemon answers with.
enum CallStatus {
    static let ok: Int32 = 0
    static let failed: Int32 = -1
    static let cancelled: Int32 = -3
    static let argument: Int32 = -12
    static let permission: Int32 = -13
    static let limit: Int32 = -14
    static let small: Int32 = -15
    static let stale: Int32 = -10
    static let absent: Int32 = -16
}

extension Int32 {
    fileprivate static func of(_ code: SubmitErrorCode) -> Int32 {
        switch code {
        case .notPermitted: CallStatus.permission
        case .tooManyPendingTaskRequests, .payloadTooLarge: CallStatus.limit
        case .badParameters, .pastLatestBegin: CallStatus.argument
        case .unavailable, .immediateRunIneligible, .storeFailed: CallStatus.failed
        }
    }

    fileprivate static func of(_ failure: FetchFailure) -> Int32 {
        switch failure {
        case .permissionDenied, .localAddress: CallStatus.permission
        case .badURL, .badMethod, .badHeader, .badFile: CallStatus.argument
        case .tooLarge, .headersTooLarge, .tooManyRedirects: CallStatus.limit
        case .cancelled: CallStatus.cancelled
        default: CallStatus.failed
        }
    }
}

extension TaskKind {
    /// The `BG_KIND_*`.
    var code: UInt32 {
        switch self {
        case .refresh: 1
        case .processing: 2
        // Not of those that a plugin can ask for.
        case .notificationAction: 0
        // Nobody submits one, so no request of a plugin's is ever listed with it.
        case .urlSession: 0
        }
    }
}

extension FetchRequest {
    /// Checks what a worker asks for against what its plugin may read.
    fileprivate init(_ call: FetchCall, readable: [String]) throws(FetchFailure) {
        var headers: [(String, String)] = []
        for line in call.headers.split(separator: "\n", omittingEmptySubsequences: true) {
            guard let colon = line.firstIndex(of: ":") else {
                throw .badHeader(name: String(line.prefix(64)), reason: "it has no colon")
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers.append((String(line[..<colon]), String(value)))
        }
        let body: FetchBody
        if !call.bodyFile.isEmpty {
            guard call.body.isEmpty else {
                throw .badFile(reason: "the fetch has both a body and a file for it")
            }
            let fd = try PermittedFile.open(call.bodyFile, within: readable)
            body = .file(try UploadFile(owning: fd))
        } else {
            body = call.body.isEmpty ? .none : .bytes(call.body)
        }
        self.init(
            url: call.url,
            method: call.method,
            headers: headers,
            body: body,
            sendsDigest: call.sendsDigest,
            bytesMax: call.bytesMax == 0 ? 1 << 20 : Int(min(call.bytesMax, 64 << 20)),
            timeout: call.timeoutMilliseconds == 0
                ? .seconds(60) : .milliseconds(min(call.timeoutMilliseconds, 86_400_000))
        )
    }
}
