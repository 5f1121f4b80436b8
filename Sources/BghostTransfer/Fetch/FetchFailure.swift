// SPDX-License-Identifier: Apache-2.0

/// Why a fetch has no response.
///
/// The texts name hosts and ports, but no paths, queries or header values: those may contain
/// secrets, and the texts appear in logs.
package enum FetchFailure: Error, Equatable, Sendable {
    case badURL(reason: String)
    case badMethod(String)
    case badHeader(name: String, reason: String)
    case badFile(reason: String)
    /// The file changed while it was being read.
    ///
    /// The server did not get the last bytes, so it has no complete body.
    case fileChanged
    case permissionDenied(host: String, port: UInt16)
    /// A name resolves to an address of this machine or of a private network.
    case localAddress(host: String, address: String)
    case unresolved(host: String, reason: String)
    /// The connection failed or broke.
    ///
    /// `target` is `host:port`.
    case connection(target: String, reason: String)
    /// The operator's proxy cannot be used.
    ///
    /// `variable` is the environment variable that names it.
    case badProxy(variable: String, reason: String)
    case badRedirect(from: String, reason: String)
    case tooManyRedirects(limit: Int)
    /// The response's body is larger than `limit` bytes.
    case tooLarge(limit: Int)
    /// The response's headers are larger than `limit` bytes.
    case headersTooLarge(limit: Int)
    /// The host already holds as many bytes for the plugin as its limit permits.
    case noRoom
    /// The host has hashed as many bytes for the plugin as it may without sending them.
    case tooManyDigests
    case timedOut(after: Duration)
    case cancelled
    /// The fetcher was shut down before or during the fetch.
    case shutDown
}

extension FetchFailure: CustomStringConvertible {
    /// A sentence: what happened, where, why, and what to do.
    package var description: String {
        switch self {
        case .badURL(let reason):
            "the fetch has no usable URL: \(reason)"
        case .badMethod(let method):
            "'\(Printable.text(method))' is not a method that a fetch can use: "
                + "take GET, HEAD, POST, PUT, PATCH, DELETE or another word of letters, "
                + "but not CONNECT or TRACE"
        case .badHeader(let name, let reason):
            "the fetch cannot send the header '\(Printable.text(name))': \(reason)"
        case .badFile(let reason):
            "the body cannot be read from its file: \(reason)"
        case .fileChanged:
            "the file was changed during its upload, so the upload was broken off: fetch again "
                + "once the file is complete"
        case .permissionDenied(let host, let port):
            "this plugin may not reach \(Printable.target(host, port)): to allow it, add "
                + "\"\(Printable.target(host, port))\" to \"permissions\".\"network\" of the "
                + "plugin in the manifest"
        case .localAddress(let host, let address):
            "'\(host)' leads to \(address), an address of this machine or a private network, "
                + "which a name must not do: if it is meant, grant and fetch the address itself"
        case .unresolved(let host, let reason):
            "no address was found for '\(host)': \(reason)"
        default:
            exchangeDescription
        }
    }

    /// The descriptions of failures that occur after the request was checked.
    private var exchangeDescription: String {
        switch self {
        case .connection(let target, let reason):
            "the exchange with \(target) failed: \(reason)"
        case .badProxy(let variable, let reason):
            "the proxy that \(variable) in the daemon's environment names cannot be used: \(reason)"
        case .badRedirect(let origin, let reason):
            "\(origin) redirects to where a fetch cannot go: \(reason)"
        case .tooManyRedirects(let limit):
            "the server redirected more than \(limit) times: it probably redirects in a circle"
        case .tooLarge(let limit):
            "the answer is larger than the \(limit) bytes that the fetch allows: raise the "
                + "fetch's limit or ask for less"
        case .headersTooLarge(let limit):
            "the headers of the answer are larger than \(limit) bytes"
        case .noRoom:
            "bghost holds as much for this plugin as it may: fetch less at once, or let answers be "
                + "read"
        case .tooManyDigests:
            "bghost has hashed \(DigestLedger.unsentBytesMax >> 30) GiB of files for this plugin that "
                + "were not sent then, and hashes no more for now: fetch later"
        case .timedOut(let limit):
            "the fetch did not end within its \(limit): raise its timeout or ask for less"
        case .cancelled:
            "the fetch was cancelled"
        default:
            "the fetch was ended because the host is shutting down"
        }
    }
}

/// Makes text from a plugin or server safe for a message.
enum Printable {
    /// The first characters; control characters are replaced.
    static func text(_ text: String, limit: Int = 60) -> String {
        let safe = text.unicodeScalars.prefix(limit).map { scalar in
            scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) ? "\u{FFFD}" : scalar
        }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: safe)
        return String(result) + (text.unicodeScalars.count > limit ? "…" : "")
    }

    /// A host and port in the form that manifests use.
    static func target(_ host: String, _ port: UInt16) -> String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
