// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import Synchronization

extension URLSession {
    /// Asks for data.
    ///
    /// Any status of HTTP is an answer. In a background session this is a transfer; one that the server
    /// refused for good has the status and no data.
    ///
    /// - Throws: `URLError`, code `.cancelled` once the task is cancelled: if that is because the run
    ///   is asked to stop, a background transfer goes on.
    public func data(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        guard settings.identifier != nil else { return try await exchange(request, file: nil) }
        let record = try await transfer(request)
        if let error = record.error {
            guard record.isRefusal, let response = record.response else { throw error }
            return (Data(), response)
        }
        return (try Self.content(record), try Self.response(record))
    }

    /// Asks for data.
    ///
    /// - Throws: as of `data(for:)`.
    public func data(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// Asks for a file, which is the caller's to move or to remove.
    ///
    /// - Throws: as of `data(for:)`; `URLError.badServerResponse` for a background transfer that the
    ///   server refused.
    public func download(
        for request: URLRequest,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        guard settings.identifier != nil else {
            let (data, response) = try await exchange(request, file: nil)
            return (try TemporaryFile(data).url, response)
        }
        let record = try await transfer(request)
        if let error = record.error { throw error }
        guard let file = record.path else { throw URLError(.fileDoesNotExist) }
        return (URL(filePath: file), try Self.response(record))
    }

    /// Asks for a file.
    ///
    /// - Throws: as of `download(for:)`.
    public func download(
        from url: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url))
    }

    /// Sends a file, by PUT if the request does not say how.
    ///
    /// - Throws: as of `data(for:)`.
    public func upload(
        for request: URLRequest,
        fromFile file: URL,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        guard settings.identifier != nil else { return try await exchange(request, file: file) }
        let record = try await transfer(request, file: file)
        if let error = record.error, !record.isRefusal { throw error }
        return (Data((record.body ?? "").utf8), try Self.response(record))
    }

    /// Sends data; in the foreground only, as on iOS.
    ///
    /// - Throws: as of `data(for:)`.
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

    // MARK: In the foreground

    /// Has the host carry out a request.
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
            // The host takes that much only from a file that the plugin may read.
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

    // MARK: In the background

    /// What `begin` has found.
    enum Start {
        /// What a wake tells of.
        case ended(TransferRecord)
        case transfer(String, key: String)
    }

    /// Begins a transfer, or finds the one that there is for the same request.
    func begin(
        _ request: URLRequest,
        file: URL? = nil,
        label: String? = nil,
        earliest: Date? = nil
    ) throws -> Start {
        guard let identifier = settings.identifier else { throw URLError(.badURL) }
        let wanted = try TransferRequest(
            request,
            of: settings,
            session: identifier,
            upload: file,
            label: label,
            earliest: earliest
        )
        let key = wanted.key
        // With a delegate, that is who is told.
        let wake = delegate == nil ? TaskContext.current?.wake(of: identifier) : nil
        if let record = wake?.claim(wanted, key: key) { return .ended(record) }
        if let id = detached(key) { return .transfer(id, key: key) }
        guard let transfers = Transfers(host) else {
            throw URLError(.notConnectedToInternet, request.url, "this host has no transfers")
        }
        return .transfer(try transfers.begin(wanted, of: context?.run ?? 0), key: key)
    }

    /// Carries a request to its end.
    private func transfer(_ request: URLRequest, file: URL? = nil) async throws -> TransferRecord {
        guard !Task.isCancelled, !isInvalid else { throw URLError(.cancelled, request.url, "") }
        switch try begin(request, file: file) {
        case .ended(let record): return record
        case .transfer(let id, let key):
            guard let context, let transfers = Transfers(context.host) else {
                throw URLError(
                    .backgroundSessionWasDisconnected,
                    request.url,
                    "outside of a run nobody can wait; the transfer goes on, and a wake tells its end"
                )
            }
            note(Begun(id: id, context: context), for: key)
            let record = try await TransferWait(transfers, id, context, request.url) { [self] in
                note(nil, for: key)
            }.end()
            note(nil, for: key)
            return record
        }
    }
}

extension TaskContext {
    /// The wake that the run is, if it is one of this session.
    func wake(of session: String) -> SessionWake? {
        guard isWake, let wake = sessions.wake, wake.session == session else { return nil }
        return wake
    }
}

/// A wait for the end of a transfer, which a cancellation ends and not the transfer.
private final class TransferWait: Sendable {
    private let transfers: Transfers
    private let id: String
    private let context: TaskContext
    private let url: URL?
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
    }

    func end() async throws -> TransferRecord {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiter.withLock { $0 = continuation }
                let isAwaited = transfers.wait(id, of: context.run) { [self] record in
                    finish(record.map { .success($0) } ?? .failure(cancelled))
                }
                // Cancelled before there was a waiter, or the run is over.
                let isCancelled = Task.isCancelled && context.stopReason == nil
                if isCancelled || !isAwaited { finish(.failure(cancelled)) }
            }
        } onCancel: {
            // The source's own cancellation ends the transfer, as on iOS. The run's does not; and as the
            // end may be on its way already, which nobody else would be told of then, it is the host that
            // says which of the two was first.
            guard context.stopReason == nil else { return }
            willCancel()
            transfers.cancel(id)
            finish(.failure(cancelled))
        }
    }

    private var cancelled: URLError { URLError(.cancelled, url, "cancelled") }

    private func finish(_ result: Result<TransferRecord, any Error>) {
        let waiter = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        waiter?.resume(with: result)
    }
}
