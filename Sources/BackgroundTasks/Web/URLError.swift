// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Why a request of a session has no answer, by Apple's codes.
///
/// Catch a case by its code: `catch URLError.cancelled`.
public struct URLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    public let code: Code
    /// Where it was going; `nil` if nowhere.
    public let failingURL: URL?
    private let reason: String

    /// Makes an error of its code.
    public init(_ code: Code) { self.init(code, nil, "") }

    init(_ code: Code, _ url: URL?, _ reason: String) {
        self.code = code
        failingURL = url
        self.reason = reason
    }

    /// The code, as a number.
    public var errorCode: Int { code.rawValue }

    /// What went wrong and what to do about it, in one line.
    public var description: String {
        let text = reason.isEmpty ? "URLError \(code.rawValue)" : reason
        guard let url = failingURL?.absoluteString, !text.hasPrefix(url) else { return text }
        return "\(url): \(text)"
    }

    /// The same.
    public var localizedDescription: String { description }

    /// What can go wrong, with Apple's numbers.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// Apple's number.
        public let rawValue: Int
        /// Makes a code of its number.
        public init(rawValue: Int) { self.rawValue = rawValue }
        private init(_ number: Int) { rawValue = number }

        /// Something else.
        public static let unknown = Code(-1)
        /// It was asked to end, or the run was asked to stop.
        public static let cancelled = Code(-999)
        /// The request is not a valid one.
        public static let badURL = Code(-1000)
        /// It took too long.
        public static let timedOut = Code(-1001)
        /// Neither http nor https.
        public static let unsupportedURL = Code(-1002)
        /// There is no such host.
        public static let cannotFindHost = Code(-1003)
        /// The host does not answer.
        public static let cannotConnectToHost = Code(-1004)
        /// The connection broke.
        public static let networkConnectionLost = Code(-1005)
        /// There is no network, or no run on whose behalf to use it.
        public static let notConnectedToInternet = Code(-1009)
        /// The server answered with a failure, or not in HTTP.
        public static let badServerResponse = Code(-1011)
        /// There is no such file.
        public static let fileDoesNotExist = Code(-1100)
        /// The file may not be read.
        public static let noPermissionsToReadFile = Code(-1102)
        /// The answer is too large.
        public static let dataLengthExceedsMaximum = Code(-1103)
        /// `tasks.json` does not permit it.
        public static let appTransportSecurityRequiresSecureConnection = Code(-1022)
        /// The certificate is not trusted.
        public static let secureConnectionFailed = Code(-1200)
        /// The file cannot be made.
        public static let cannotCreateFile = Code(-3000)
        /// The file cannot be written.
        public static let cannotWriteToFile = Code(-3003)
        /// The plugin, or the daemon, stops.
        public static let backgroundSessionWasDisconnected = Code(-997)
    }
}

extension URLError {
    /// The code of what was ended.
    public static var cancelled: Code { .cancelled }
    /// The code of what took too long.
    public static var timedOut: Code { .timedOut }
    /// The code of an answer that is a failure.
    public static var badServerResponse: Code { .badServerResponse }
    /// The code of a missing network.
    public static var notConnectedToInternet: Code { .notConnectedToInternet }
}

extension URLError.Code {
    /// Whether an error is a session's and has this code; lets `catch` name the code.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? URLError)?.code == code
    }
}
