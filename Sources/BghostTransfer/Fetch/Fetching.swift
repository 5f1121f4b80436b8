// SPDX-License-Identifier: Apache-2.0

package import BghostLinux

/// Performs HTTP exchanges for plugins, within each plugin's permissions.
package protocol Fetching: Sendable {
    /// Sends one request, follows its redirects and collects the response.
    ///
    /// Any HTTP response is a success, whatever its status. May be called from any task, any number
    /// of times at once. Cancelling the calling task ends the exchange at once.
    ///
    /// - Parameter permits: whether the plugin may reach a host (lower case, IPv6 addresses without
    ///   brackets and in their shortest form) and port. It is called before each connection,
    ///   including those to redirect targets, on any thread, and must not block.
    func fetch(
        _ request: FetchRequest,
        permits: @escaping @Sendable (_ host: String, _ port: UInt16) -> Bool
    ) async throws(FetchFailure) -> FetchResponse
}

/// A request, with its limits on time and size.
package struct FetchRequest: Sendable {
    /// An absolute `http` or `https` URL without user or password.
    package var url: String
    /// The HTTP method in any case; "" is GET.
    package var method: String
    /// Names and values in the order in which they are sent.
    ///
    /// Headers that determine where a message begins, ends or goes, such as `Host` and
    /// `Content-Length`, are refused.
    var headers: [(String, String)]
    /// The body.
    var body: FetchBody
    /// Whether to add `Repr-Digest: sha-256=...` (RFC 9530) of the body.
    var sendsDigest: Bool
    /// Whether a redirect that would repeat the request as a `GET` without its body is a failure.
    ///
    /// Otherwise it is followed, as browsers do, although no server has then got the body.
    package var keepsMethod = false
    /// The most bytes of the response's body, as received: nothing is decompressed.
    var bytesMax: Int
    /// The timeout of the whole fetch, from the name lookup through redirects and the upload to the
    /// last byte of the response.
    var timeout: Duration
    /// The plugin that fetches; empty if none does.
    package var plugin = ""
    /// The epoch of the run that fetches; `nil` if no run does.
    package var epoch: UInt64?
    /// Identifies this fetch among those of its run: the same at each attempt of the run, different
    /// for each fetch.
    ///
    /// `nil` if it is unknown.
    package var occasion: String?
    /// Whether so many more bytes of the response may be kept.
    ///
    /// Called on any thread, before they are kept.
    package var admits: @Sendable (_ bytes: Int) -> Bool = { _ in true }

    /// Creates a request with the defaults of the C ABI.
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
    /// Streamed from a file.
    ///
    /// A redirect that repeats the body reads the file again.
    case file(UploadFile)
    /// The same, of a file that is opened when the fetch starts, on a thread that may wait for a disk.
    ///
    /// `readable` are the files and folders that the plugin may read; no link in the folders that plugins may
    /// write is followed on the way to them.
    case path(String, readable: [String], among: WritableTrees = WritableTrees())
}

/// An HTTP response.
package struct FetchResponse: Sendable {
    /// The HTTP status, such as 200.
    package var status: Int
    /// Names in lower case and values, in the order of arrival; at most 32 KiB together.
    package var headers: [(String, String)]
    /// The complete body.
    package var body: [UInt8]

    init(status: Int, headers: [(String, String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
