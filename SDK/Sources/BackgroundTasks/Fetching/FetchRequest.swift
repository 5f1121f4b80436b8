// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// An HTTP request that the host sends for a run, within the plugin's network permissions.
public struct FetchRequest: Sendable {
    /// The body of a request.
    public enum Body: Sendable {
        /// Bytes, at most 64 KiB.
        case data(Data)
        /// The content of a file that the plugin may read, of any size; an absolute path.
        case file(String)
    }

    /// The URL, with the scheme `http` or `https`.
    public var url: URL
    /// The HTTP method.
    public var method: String
    /// The header fields.
    ///
    /// Neither names nor values may contain line breaks.
    public var headers: [(name: String, value: String)]
    /// The body; `nil` for none.
    public var body: Body?
    /// Whether to send the SHA-256 of the body, as `Repr-Digest` (RFC 9530).
    public var digest: Bool
    /// The most bytes of the response's body; `nil` means 1 MiB.
    public var maximumBytes: Int?
    /// The timeout of the whole fetch; `nil` means 60 s.
    ///
    /// The fetch never outlasts the run.
    public var timeout: Duration?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - url: an `http` or `https` URL.
    ///   - method: the HTTP method.
    ///   - headers: the header fields.
    ///   - body: the body; `nil` for none.
    ///   - digest: whether to send the SHA-256 of the body.
    ///   - maximumBytes: the most bytes of the response's body; `nil` means 1 MiB.
    ///   - timeout: the timeout of the whole fetch; `nil` means 60 s.
    public init(
        _ url: URL,
        method: String = "GET",
        headers: [(name: String, value: String)] = [],
        body: Body? = nil,
        digest: Bool = false,
        maximumBytes: Int? = nil,
        timeout: Duration? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.digest = digest
        self.maximumBytes = maximumBytes
        self.timeout = timeout
    }
}
