// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import FoundationEssentials

extension TaskContext {
    /// Sends an HTTP request through the host, and returns the response.
    ///
    /// Any HTTP status is a response, not an error. The fetch ends with the run at the latest.
    ///
    /// - Parameter request: the request.
    /// - Returns: the response.
    /// - Throws: `FetchError`, or `CancellationError` once the task is cancelled.
    public func fetch(_ request: FetchRequest) async throws -> FetchResponse {
        try Task.checkCancellation()
        guard let table = host.extension(BG_EXT_FETCH, as: bg_fetches.self) else {
            throw FetchError(BG_E_ABSENT, url: request.url.absoluteString)
        }
        return try await Fetch(table, of: self, url: request.url.absoluteString).answer(to: request)
    }
}

/// A fetch in progress.
private final class Fetch: @unchecked Sendable {
    // The host never changes or frees this table, as with its main table.
    private let table: ExtensionTable<bg_fetches>
    private let context: TaskContext
    private let url: String
    private let wait: HostWait<FetchResponse>

    init(_ table: ExtensionTable<bg_fetches>, of context: TaskContext, url: String) {
        self.table = table
        self.context = context
        self.url = url
        let canceller = Canceller(table: table, host: context.host)
        wait = HostWait { canceller.cancel($0) }
    }

    /// Asks the host to cancel a fetch.
    private struct Canceller: @unchecked Sendable {
        let table: ExtensionTable<bg_fetches>
        let host: Host

        // A fetch that has ended meanwhile is stale, which is as good.
        func cancel(_ number: bg_fetch) { _ = table.cancel?(host.pointer, number) }
    }

    func answer(to request: FetchRequest) async throws -> FetchResponse {
        try await wait.value { try begin(request, headers: request.headerLines()) }
    }

    private func begin(_ request: FetchRequest, headers: String) throws -> bg_fetch {
        // The host holds this reference. `done` releases it, or this function if the host does not
        // accept the fetch.
        let held = Unmanaged.passRetained(self)
        var number: bg_fetch = 0
        let status = request.withCRequest(headers: headers) { request in
            table.begin?(
                context.host.pointer,
                context.run,
                request,
                { held, _, result in Fetch.done(held, result) },
                held.toOpaque(),
                &number
            ) ?? BG_E_ABSENT
        }
        guard status == BG_OK else {
            held.release()
            throw FetchError(status, url: url)
        }
        return number
    }

    private static func done(
        _ held: UnsafeMutableRawPointer?,
        _ result: UnsafePointer<bg_fetch_result>?
    ) {
        guard let held else { return }
        let fetch = Unmanaged<Fetch>.fromOpaque(held).takeRetainedValue()
        fetch.wait.finish(fetch.outcome(result))
    }

    private func outcome(_ result: UnsafePointer<bg_fetch_result>?)
        -> Result<FetchResponse, any Error>
    {
        guard let result, Int(result.pointee.size) >= MemoryLayout<bg_fetch_result>.size else {
            return .failure(FetchError(BG_E_FAILED, url: url))
        }
        switch result.pointee.status {
        case BG_OK: return .success(FetchResponse(result.pointee))
        case BG_E_CANCELLED: return .failure(CancellationError())
        case let status:
            let message = String(result.pointee.message)
            return .failure(FetchError(status, url: url, message: message))
        }
    }
}

extension FetchResponse {
    fileprivate init(_ result: bg_fetch_result) {
        let fields = String(result.headers).split(separator: "\n").compactMap { line in
            line.firstIndex(of: ":").map { colon in
                (
                    name: line[..<colon].lowercased(),
                    value: String(line[line.index(after: colon)...].drop { $0 == " " })
                )
            }
        }
        let body = UnsafeRawBufferPointer(start: result.body.ptr, count: result.body.len)
        self.init(status: Int(result.http_status), headers: fields, body: Data(body))
    }
}
