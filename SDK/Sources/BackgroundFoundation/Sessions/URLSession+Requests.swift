// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
public import FoundationEssentials
internal import Synchronization

extension URLSession {
    /// Loads data.
    ///
    /// Any HTTP status is a response, not an error. In a background session this is a transfer. If
    /// the server refused it for good, the result has the status and no data.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - delegate: ignored.
    /// - Returns: the body and the response.
    /// - Throws: `URLError`; its code is `.cancelled` once the task is cancelled. If the reason is
    ///   that the run is cancelled, a background transfer continues.
    public func data(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        guard settings.identifier != nil else { return try await exchange(request, file: nil) }
        let (record, end) = try await transfer(request)
        defer { end?.isOver(record) }
        if let error = record.error {
            guard record.isRefusal, let response = record.response else { throw error }
            return (Data(), response)
        }
        return (try Self.content(record), try Self.response(record))
    }

    /// Loads data from a URL.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - delegate: ignored.
    /// - Returns: the body and the response.
    /// - Throws: as `data(for:)`.
    public func data(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// Downloads a file.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - delegate: ignored.
    /// - Returns: the file, which the caller owns and must move or remove, and the response.
    /// - Throws: as `data(for:)`; `URLError.badServerResponse` for a background transfer that the
    ///   server refused.
    public func download(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        guard settings.identifier != nil else {
            let (data, response) = try await exchange(request, file: nil)
            return (try TemporaryFile(data).url, response)
        }
        let (record, end) = try await transfer(request)
        defer { end?.isOver(record, ownsFile: true) }
        if let error = record.error { throw error }
        guard let file = record.path else { throw URLError(.fileDoesNotExist) }
        return (URL(filePath: file), try Self.response(record))
    }

    /// Downloads a file from a URL.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - delegate: ignored.
    /// - Returns: the file, which the caller owns, and the response.
    /// - Throws: as `download(for:)`.
    public func download(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url))
    }

    /// Uploads a file, by PUT unless the request sets another method than GET.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - file: the file, which the plugin must be permitted to read.
    ///   - delegate: ignored.
    /// - Returns: the body of the response, and the response.
    /// - Throws: as `data(for:)`.
    public func upload(
        for request: URLRequest,
        fromFile file: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        guard settings.identifier != nil else { return try await exchange(request, file: file) }
        let (record, end) = try await transfer(request, file: file)
        defer { end?.isOver(record) }
        if let error = record.error, !record.isRefusal { throw error }
        return (Data((record.body ?? "").utf8), try Self.response(record))
    }

    /// Uploads data.
    ///
    /// As on iOS, a background session cannot do this.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - data: the body.
    ///   - delegate: ignored.
    /// - Returns: the body of the response, and the response.
    /// - Throws: as `data(for:)`; `URLError.fileDoesNotExist` in a background session.
    public func upload(
        for request: URLRequest,
        from data: Data,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        guard settings.identifier == nil else {
            throw URLError(.fileDoesNotExist, request.url, "a background upload is of a file")
        }
        var request = request
        request.httpBody = data
        if request.httpMethod ?? "GET" == "GET" { request.httpMethod = "PUT" }
        return try await exchange(request, file: nil)
    }

    private static func content(_ record: TransferRecord) throws -> Data {
        guard let file = record.path else { throw URLError(.fileDoesNotExist) }
        return try Data(contentsOf: URL(filePath: file))
    }

    private static func response(_ record: TransferRecord) throws -> URLResponse {
        guard let response = record.response else {
            throw URLError(.badServerResponse, URL(string: record.url), "an end without a status")
        }
        return response
    }

    // MARK: Foreground sessions

    /// Sends a request through the host.
    func exchange(_ request: URLRequest, file: URL?) async throws -> (Data, URLResponse) {
        guard let url = request.url else { throw URLError(.badURL) }
        guard let context else {
            throw URLError(
                .notConnectedToInternet,
                url,
                "only a run may use the network: use a background session, or call it from a handler"
            )
        }
        let method = request.httpMethod ?? "GET"
        var call = FetchRequest(
            url,
            method: file != nil && method == "GET" ? "PUT" : method,
            headers: request.headers(under: settings),
            maximumBytes: 64 << 20,
            timeout: .seconds(max(1, request.timeout(under: settings)))
        )
        var spilled: TemporaryFile?
        defer { spilled?.remove() }
        if let file {
            call.body = .file(file.path)
        } else if let body = request.httpBody, body.count > 64 << 10 {
            // The host accepts this many bytes only from a file that the plugin may read.
            let file = try TemporaryFile(body, in: context.dataDirectory)
            spilled = file
            call.body = .file(file.url.path)
        } else if let body = request.httpBody, !body.isEmpty {
            call.body = .data(body)
        }
        do {
            let answer = try await context.fetch(call)
            guard let response = HTTPURLResponse.answer(url, answer.status, answer.headers) else {
                throw URLError(.badServerResponse, url, "no answer of HTTP")
            }
            return (answer.body, response)
        } catch is CancellationError {
            throw URLError(.cancelled, url, "cancelled")
        } catch let error as FetchError {
            throw URLError(error, url)
        }
    }

    // MARK: Background sessions

    /// The result of `begin`.
    enum Start {
        /// The transfer has ended, and a wake reports it.
        case ended(TransferRecord)
        case transfer(String, key: String)
    }

    /// Starts a transfer, or finds the one for the same request.
    func begin(
        _ request: URLRequest,
        file: URL? = nil,
        label: String? = nil,
        earliest: Date? = nil,
        isData: Bool = false
    ) throws -> Start {
        guard let identifier = settings.identifier else { throw URLError(.badURL) }
        let wanted = try TransferRequest(
            request,
            of: settings,
            session: identifier,
            upload: file,
            label: label,
            earliest: earliest,
            isData: isData
        )
        let key = wanted.key
        // With a delegate, that is who is told.
        if delegate == nil, let context = TaskContext.current,
            let wake = context.wake(of: identifier)
        {
            wake.askForKept(of: context)
            if let record = wake.claim(wanted, key: key) { return .ended(record) }
        }
        if let id = detached(key) { return .transfer(id, key: key) }
        guard let transfers = Transfers(host) else {
            throw URLError(.notConnectedToInternet, request.url, "this host has no transfers")
        }
        do {
            return .transfer(try transfers.begin(wanted, of: context?.run ?? 0), key: key)
        } catch let failure as HostFailure {
            throw URLError(failure.status, request.url, "transfer")
        }
    }

    /// Runs a request to its end.
    ///
    /// - Returns: the end, and the wait for it, which the caller ends; `nil` if a wake reports it.
    private func transfer(
        _ request: URLRequest,
        file: URL? = nil
    ) async throws -> (TransferRecord, AwaitedEnd?) {
        guard !Task.isCancelled, !isInvalid else { throw URLError(.cancelled, request.url, "") }
        switch try begin(request, file: file) {
        case .ended(let record): return (record, nil)
        case .transfer(let id, let key):
            guard let context, let transfers = Transfers(context.host) else {
                throw URLError(
                    .backgroundSessionWasDisconnected,
                    request.url,
                    "only a run can wait; the transfer goes on, and a wake reports its end"
                )
            }
            note(Begun(id: id, context: context), for: key)
            let wait = TransferWait(transfers, id, context, request.url) { [self] in
                note(nil, for: key)
            }
            let record = try await wait.end()
            note(nil, for: key)
            return (record, wait.awaited)
        }
    }
}

extension TaskContext {
    /// The wake that the run is, if it is one of this session.
    func wake(of session: String) -> SessionEnds? {
        guard isWake, let wake = sessions.wake, wake.session == session else { return nil }
        return wake
    }
}

/// A wait for the end of a transfer.
///
/// Cancelling it ends the wait, not necessarily the transfer.
private final class TransferWait: Sendable {
    private let transfers: Transfers
    private let id: String
    private let context: TaskContext
    private let url: URL?
    /// The caller of `end()` ends this if it gets a record.
    let awaited: AwaitedEnd
    private let willCancel: @Sendable () -> Void
    private let waiter = Mutex<CheckedContinuation<TransferRecord, any Error>?>(nil)

    /// - Parameter willCancel: called before the transfer is cancelled.
    init(
        _ transfers: Transfers,
        _ id: String,
        _ context: TaskContext,
        _ url: URL?,
        willCancel: @escaping @Sendable () -> Void
    ) {
        self.transfers = transfers
        self.id = id
        self.context = context
        self.url = url
        self.willCancel = willCancel
        awaited = AwaitedEnd(id, of: context.host)
    }

    func end() async throws -> TransferRecord {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiter.withLock { $0 = continuation }
                let isAwaited = transfers.wait(id, of: context.run) { [self] record in
                    let isTaken = finish(record.map { .success($0) } ?? .failure(cancelled))
                    if !isTaken || record == nil { awaited.isOver(record) }
                }
                if !isAwaited { awaited.isOver(nil) }
                // The task was cancelled before there was a waiter, or the run is over.
                let isCancelled = Task.isCancelled && context.stopReason == nil
                if isCancelled || !isAwaited { finish(.failure(cancelled)) }
            }
        } onCancel: {
            // If the plugin's code cancels the task, the transfer ends, as on iOS. If the run is
            // cancelled, the transfer continues. Its end may already be on the way, and would be
            // reported nowhere else; so the host decides which of the two came first.
            guard context.stopReason == nil else { return }
            willCancel()
            transfers.cancel(id)
            finish(.failure(cancelled))
        }
    }

    private var cancelled: URLError { URLError(.cancelled, url, "cancelled") }

    /// - Returns: `false` if the wait had a result already.
    @discardableResult
    private func finish(_ result: Result<TransferRecord, any Error>) -> Bool {
        let waiter = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        waiter?.resume(with: result)
        return waiter != nil
    }
}
