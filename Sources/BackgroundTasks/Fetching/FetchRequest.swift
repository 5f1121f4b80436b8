// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// An HTTP request that the host carries out for a run, within the plugin's network permissions.
public struct FetchRequest: Sendable {
    /// What to send along.
    public enum Body: Sendable {
        /// Bytes, at most 64 KiB.
        case data(Data)
        /// The content of a file that the plugin may read, of any size; an absolute path.
        case file(String)
    }

    /// Where to; `http` or `https`.
    public var url: URL
    /// The method.
    public var method: String
    /// Fields of the header.
    ///
    /// Neither names nor values may have line breaks.
    public var headers: [(name: String, value: String)]
    /// What to send along; `nil` is nothing.
    public var body: Body?
    /// Whether to send the SHA-256 of the body along, as `Repr-Digest` of RFC 9530.
    public var digest: Bool
    /// The most bytes that the body of the answer may have; `nil` is 1 MiB.
    public var maximumBytes: Int?
    /// The longest that it may take; `nil` is 60 s.
    ///
    /// It never outlasts the run.
    public var timeout: Duration?

    /// Makes a request.
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
