// SPDX-License-Identifier: Apache-2.0

/// Why an attempt, or a whole transfer, came to nothing.
///
/// Texts name hosts, ports and files, never queries or header values: those may hold secrets, and
/// the texts end up in logs.
package struct TransferFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of fault it is, as far as it decides what follows.
    package enum Code: String, Sendable, CaseIterable {
        /// The connection could not be made, or broke.
        case connection
        case unresolved
        /// The server answered with a status that is no success.
        case status
        /// Nothing moved for too long.
        case idle
        /// Less came than was announced.
        case incomplete
        /// No room on the disk.
        case noSpace
        /// What the server said of its answer contradicts itself, or what it said before.
        case contradiction
        /// What came is not what it should hash to.
        case digest
        /// The manifest does not allow it.
        case forbidden
        case badRequest
        case badRedirect
        /// The server's certificate is not trusted.
        case untrusted
        case tooLarge
        /// The body is packed in a way that cannot be undone, or unpacks to too much.
        case encoding
        /// The file that is sent was written to meanwhile.
        case fileChanged
        case file
        /// The time for all its attempts is over.
        case expired
        /// The host stops; the transfer goes on when it starts again.
        case shutDown
    }

    /// What follows from a fault.
    package enum Verdict: Equatable, Sendable {
        /// Another attempt, later, from where it stands.
        case again
        /// Another attempt from the beginning; a few of those in a row and it is over.
        case afresh
        /// Trying again would give the same.
        case final
    }

    package var code: Code
    /// A clause that says what, where and why.
    package var detail: String
    /// The HTTP status, if the server gave one.
    package var status: Int?

    package init(_ code: Code, _ detail: String, status: Int? = nil) {
        self.code = code
        self.detail = detail
        self.status = status
    }

    /// What follows.
    package var verdict: Verdict {
        switch code {
        case .connection, .unresolved, .idle, .incomplete, .noSpace, .shutDown: .again
        case .status: Self.isTransient(status ?? 0) ? .again : .final
        case .contradiction, .digest: .afresh
        case .forbidden, .badRequest, .badRedirect, .untrusted, .tooLarge, .encoding, .fileChanged,
            .file, .expired:
            .final
        }
    }

    /// Whether a status may be another one the next time: a server's fault, or its load.
    package static func isTransient(_ status: Int) -> Bool {
        switch status {
        case 408, 425, 429: true
        // It will speak this version of HTTP, or know this method, no more the next time.
        case 501, 505: false
        default: (500...599).contains(status)
        }
    }

    package var description: String { detail }
}
