// SPDX-License-Identifier: Apache-2.0

/// The reason for which an attempt or a whole transfer failed.
///
/// Texts contain hosts, ports and files, but never queries or header values: these may be secrets, and the
/// texts are written to logs.
package struct TransferFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kind of a fault; it determines the verdict.
    package enum Code: String, Sendable, CaseIterable {
        /// The connection could not be established, or was lost.
        case connection
        case unresolved
        /// The server's status was not a success.
        case status
        /// No bytes were transferred for too long.
        case idle
        /// The server sent fewer bytes than it announced.
        case incomplete
        /// The disk is full.
        case noSpace
        /// The host cannot do it now, or does not do more for the plugin for now.
        case limit
        /// The server's response contradicts itself or an earlier response.
        case contradiction
        /// The received file does not have the expected hash.
        case digest
        /// The manifest does not permit it.
        case forbidden
        case badRequest
        case badRedirect
        /// The server's certificate is not trusted.
        case untrusted
        case tooLarge
        /// The body's compression is not supported, or the decompressed body is too long.
        case encoding
        /// The source file was changed during the upload.
        case fileChanged
        case file
        /// The time for all attempts has passed.
        case expired
        /// The host is stopping; the transfer continues after the next start.
        case shutDown
    }

    /// The consequence of a fault.
    package enum Verdict: Equatable, Sendable {
        /// Another attempt later, from the current position.
        case again
        /// Another attempt from the start of the file; the transfer fails after a few of them.
        case afresh
        /// No further attempt: it would fail in the same way.
        case final
    }

    package var code: Code
    /// A clause that describes what failed, where and why.
    package var detail: String
    /// The HTTP status, if there was a response.
    package var status: Int?

    package init(_ code: Code, _ detail: String, status: Int? = nil) {
        self.code = code
        self.detail = detail
        self.status = status
    }

    /// The consequence of this fault.
    package var verdict: Verdict {
        switch code {
        case .connection, .unresolved, .idle, .incomplete, .noSpace, .limit, .shutDown: .again
        case .status: Self.isTransient(status ?? 0) ? .again : .final
        case .contradiction, .digest: .afresh
        case .forbidden, .badRequest, .badRedirect, .untrusted, .tooLarge, .encoding, .fileChanged,
            .file, .expired:
            .final
        }
    }

    /// Whether the next attempt may have another status: the server failed or is overloaded.
    static func isTransient(_ status: Int) -> Bool {
        switch status {
        case 408, 425, 429: true
        // The server will not support the HTTP version or the method at the next attempt either.
        case 501, 505: false
        default: (500...599).contains(status)
        }
    }

    package var description: String { detail }
}
