// SPDX-License-Identifier: Apache-2.0

internal import CBghost

/// Why a fetch has no response.
public struct FetchError: Error, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable {
        /// The network or the server failed; the same fetch may succeed later.
        case failed
        /// `tasks.json` does not permit the plugin to connect to this host, or to read this file.
        case notPermitted
        /// The body or the response is too large, or there are too many concurrent fetches.
        case limitExceeded
        /// The request is invalid.
        case invalidRequest
        /// This host does not support fetches, or the run is over.
        case unavailable
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong and what to do, in one line.
    public let description: String

    /// Creates an error, for tests of handlers.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - description: what is wrong and what to do, in one line.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Creates an error from the host's status; the host's own message is preferred if there is
    /// one.
    init(_ status: bg_status, url: String, message: String = "") {
        let (code, usual): (Code, String) =
            switch status {
            case BG_E_PERM:
                (
                    .notPermitted,
                    "not permitted: list host and port in the plugin's `permissions.network` "
                        + "(and a file's folder in `permissions.read`) in tasks.json"
                )
            case BG_E_LIMIT: (.limitExceeded, "over a limit: a body of bytes may have 64 KiB")
            case BG_E_ARG: (.invalidRequest, "the host does not understand this request")
            case BG_E_ABSENT: (.unavailable, "this host cannot fetch")
            case BG_E_STALE: (.unavailable, "the run is over")
            case BG_E_CLOSED: (.unavailable, "the plugin is closed")
            default: (.failed, "failed with status \(status)")
            }
        self.init(code, "\(url): \(message.isEmpty ? usual : message)")
    }
}
