// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostLinux
internal import BghostModel
internal import BghostServices
internal import BghostStore
internal import BghostTransfer
internal import BghostWire
internal import Glibc

/// HTTP fetches that the daemon performs for a run.
extension PluginCalls {
    func beginFetch(_ call: Call, _ executor: any RunExecutor, _ fetch: FetchCall) {
        guard executor.fetches[call.number] == nil,
            let run = runs.run(call.run)
        else {
            fetchEnded(call.number, executor.serial, .failure(.cancelled))
            return
        }
        let share = share(of: executor.plugin)
        var request: FetchRequest
        do throws(FetchFailure) {
            guard share.reserve(fetch.heldBytes) else { throw FetchFailure.noRoom }
            request = try FetchRequest(fetch, readable: executor.plugin.readable, among: writable())
        } catch {
            fetchEnded(call.number, executor.serial, .failure(error))
            return
        }
        request.admits = { share.reserve($0) }
        request.plugin = executor.plugin.name
        request.epoch = run.record.epoch
        request.occasion = run.occasion(of: request.method, request.url)
        let trace = FetchTrace(run.record, tracer, now: clock.wall)
        if let context = trace.context { request.add(context) }
        let grants = executor.plugin.permissions.network
        let serial = executor.serial
        let number = call.number
        replies.open(executor)
        // The task is not awaited; `endCalls` and the end of the executor cancel it.
        let task = Task.detached { [reference, fetcher, request] in
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
            reference.perform { [result] in
                trace.ended(request, result, $0.tracer, now: $0.clock.wall)
                $0.fetchEnded(number, serial, result, holding: share)
            }
        }
        executor.fetches[number] = ExecutorSlots.OpenFetch(run: call.run, task: task)
    }

    private func fetchEnded(
        _ number: UInt64,
        _ serial: UInt32,
        _ result: Result<FetchResponse, FetchFailure>,
        holding share: HeldShare? = nil
    ) {
        guard let executor = executors[serial] else { return }
        if share != nil {
            replies.close(executor)
            executor.fetches[number] = nil
        }
        switch result {
        case .success(let response):
            let headers = response.headers.map { "\($0.0): \($0.1)\n" }.joined()
            replies.send(
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
                to: executor,
                holding: share
            )
        case .failure(let failure):
            log.write(.debug, "fetch.failed", "\(failure)", plugin: executor.plugin.name)
            replies.send(
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
                to: executor
            )
        }
    }
}

extension Int32 {
    fileprivate static func of(_ failure: FetchFailure) -> Int32 {
        switch failure {
        case .permissionDenied, .localAddress: CallStatus.permission
        case .badURL, .badMethod, .badHeader, .badFile: CallStatus.argument
        case .tooLarge, .headersTooLarge, .tooManyRedirects, .noRoom, .tooManyDigests:
            CallStatus.limit
        case .cancelled: CallStatus.cancelled
        default: CallStatus.failed
        }
    }
}

extension FetchCall {
    /// The bytes that the daemon holds until the answer is sent.
    fileprivate var heldBytes: Int {
        1024 + url.utf8.count + headers.utf8.count + body.count + bodyFile.utf8.count
    }
}

extension FetchRequest {
    /// Converts a worker's call; the fetch opens its file on another thread.
    fileprivate init(
        _ call: FetchCall,
        readable: [String],
        among trees: WritableTrees
    ) throws(FetchFailure) {
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
            body = .path(call.bodyFile, readable: readable, among: trees)
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
