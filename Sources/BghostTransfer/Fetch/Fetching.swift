// SPDX-License-Identifier: Apache-2.0

/// Carries out HTTP exchanges on behalf of plugins, within what each may reach.
package protocol Fetching: Sendable {
    /// Sends one request, follows its redirects and collects the answer.
    ///
    /// Any HTTP answer is a success, whatever its status. May be called from any task, any number of
    /// times at once. Cancelling the calling task ends the exchange at once.
    ///
    /// - Parameter permits: whether the plugin may reach a host (lower case, IPv6 addresses without
    ///   brackets and in their shortest form) and port. Asked before each connection, also for the
    ///   targets of redirects, on any thread; it must not block.
    func fetch(
        _ request: FetchRequest,
        permits: @escaping @Sendable (_ host: String, _ port: UInt16) -> Bool
    ) async throws(FetchFailure) -> FetchResponse
}

/// What to send, and how much time and answer to allow.
package struct FetchRequest: Sendable {
    /// An absolute `http` or `https` URL, without a user or password in it.
    package var url: String
    /// The HTTP method in any case; "" is GET.
    package var method: String
    /// Names and values in the order in which they are sent.
    ///
    /// Those that decide where a message
    /// begins, ends or goes, such as `Host` and `Content-Length`, are refused.
    package var headers: [(String, String)]
    /// What is sent after the headers.
    package var body: FetchBody
    /// Whether to add `Repr-Digest: sha-256=...` (RFC 9530) of the body.
    package var sendsDigest: Bool
    /// The most bytes of the answer's body, as they come over the wire: nothing is decompressed.
    package var bytesMax: Int
    /// Covers everything: name lookup, redirects, the upload and the last byte of the answer.
    package var timeout: Duration

    /// A request with the defaults of the C ABI.
    package init(
        url: String,
        method: String = "",
        headers: [(String, String)] = [],
        body: FetchBody = .none,
        sendsDigest: Bool = false,
        bytesMax: Int = 1 << 20,
        timeout: Duration = .seconds(60)
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.sendsDigest = sendsDigest
        self.bytesMax = bytesMax
        self.timeout = timeout
    }
}

/// The body of a request.
package enum FetchBody: Sendable {
    case none
    case bytes([UInt8])
    /// Streamed from a file, which is read again for each redirect that repeats the body.
    case file(UploadFile)
}

/// An HTTP answer.
package struct FetchResponse: Sendable {
    /// The HTTP status, such as 200.
    package var status: Int
    /// Names, in lower case, and values in the order of their arrival; at most 32 KiB.
    package var headers: [(String, String)]
    /// The body, complete.
    package var body: [UInt8]

    /// An answer as it came.
    package init(status: Int, headers: [(String, String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
