// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
public import FoundationEssentials

/// Why a request of a session failed, with Apple's codes.
///
/// To catch one case, use its code: `catch URLError.cancelled`.
public struct URLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public let code: Code
    /// The URL of the request; `nil` if there is none.
    public let failingURL: URL?
    private let reason: String

    /// Creates an error with a code.
    public init(_ code: Code) { self.init(code, nil, "") }

    init(_ code: Code, _ url: URL?, _ reason: String) {
        self.code = code
        failingURL = url
        self.reason = reason
    }

    /// The number of the code.
    public var errorCode: Int { code.rawValue }

    /// What went wrong and what to do, in one line.
    public var description: String {
        let text = reason.isEmpty ? "URLError \(code.rawValue)" : reason
        guard let url = failingURL?.absoluteString, !text.hasPrefix(url) else { return text }
        return "\(url): \(text)"
    }

    /// The same as `description`.
    public var localizedDescription: String { description }

    /// The codes, with Apple's numbers.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// Apple's number.
        public let rawValue: Int
        /// Creates a code from its number.
        public init(rawValue: Int) { self.rawValue = rawValue }
        private init(_ number: Int) { rawValue = number }

        /// Another failure.
        public static let unknown = Code(-1)
        /// The request was cancelled, or its run was.
        public static let cancelled = Code(-999)
        /// The request is invalid.
        public static let badURL = Code(-1000)
        /// The request timed out.
        public static let timedOut = Code(-1001)
        /// The scheme is neither http nor https.
        public static let unsupportedURL = Code(-1002)
        /// The host name does not exist.
        public static let cannotFindHost = Code(-1003)
        /// The host does not respond.
        public static let cannotConnectToHost = Code(-1004)
        /// The connection broke.
        public static let networkConnectionLost = Code(-1005)
        /// There is no network, or no run that may use it.
        public static let notConnectedToInternet = Code(-1009)
        /// The server responded with a failure, or not in HTTP.
        public static let badServerResponse = Code(-1011)
        /// The file does not exist.
        public static let fileDoesNotExist = Code(-1100)
        /// The plugin may not read the file.
        public static let noPermissionsToReadFile = Code(-1102)
        /// The response is too large.
        public static let dataLengthExceedsMaximum = Code(-1103)
        /// `tasks.json` does not permit the request.
        public static let appTransportSecurityRequiresSecureConnection = Code(-1022)
        /// The server's certificate is not trusted.
        public static let secureConnectionFailed = Code(-1200)
        /// The file cannot be created.
        public static let cannotCreateFile = Code(-3000)
        /// The file cannot be opened.
        public static let cannotOpenFile = Code(-3001)
        /// The file cannot be written.
        public static let cannotWriteToFile = Code(-3003)
        /// The plugin is being closed, or the daemon is stopping.
        public static let backgroundSessionWasDisconnected = Code(-997)
    }
}

extension URLError {
    /// The code of a cancelled request.
    public static var cancelled: Code { .cancelled }
    /// The code of a timeout.
    public static var timedOut: Code { .timedOut }
    /// The code of a response that is a failure.
    public static var badServerResponse: Code { .badServerResponse }
    /// The code of a missing network.
    public static var notConnectedToInternet: Code { .notConnectedToInternet }
}

extension URLError: CancelledWork {
    package var isCancellation: Bool { code == .cancelled }
}

extension URLError.Code {
    /// Whether an error is a session error with this code; this permits `catch` with a code.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? URLError)?.code == code
    }
}
