// SPDX-License-Identifier: Apache-2.0

internal import CBghost

extension BGTaskScheduler {
    /// Why the scheduler did not take a request.
    ///
    /// Catch a case by its code: `catch BGTaskScheduler.Error.notPermitted`.
    public struct Error: Swift.Error, Hashable, Sendable, CustomStringConvertible {
        /// Apple's codes, with Apple's numbers.
        public enum Code: Int, Sendable {
            /// There is no scheduler here, or it cannot take this request now.
            case unavailable = 1
            /// There are too many pending requests.
            case tooManyPendingTaskRequests = 2
            /// `tasks.json` does not permit the identifier to this plugin.
            case notPermitted = 3
        }

        /// What is wrong, by Apple's numbers.
        public let code: Code
        /// What is wrong and what to do about it, in one line.
        public let reason: String
        /// The identifier that was asked for.
        public let identifier: String

        /// The code alone, as a number.
        public var errorCode: Int { code.rawValue }

        /// The identifier, the reason and what to do.
        public var description: String { "\(identifier): \(reason)" }

        /// The code of a host without a scheduler.
        public static var unavailable: Code { .unavailable }
        /// The code of too many pending requests.
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        /// The code of an identifier that is not permitted.
        public static var notPermitted: Code { .notPermitted }

        /// Makes an error, for hosts of tests.
        @_spi(Testing)
        public init(_ code: Code, of identifier: String, _ reason: String) {
            self.code = code
            self.identifier = identifier
            self.reason = reason
        }

        init(_ status: bg_status, of identifier: String) {
            let (code, reason): (Code, String) =
                switch status {
                case BG_E_PERM:
                    (
                        .notPermitted,
                        "not permitted to this plugin: make it a key of `tasks` in tasks.json and "
                            + "list it in the plugin's `permissions.submit`"
                    )
                case BG_E_LIMIT:
                    (
                        .tooManyPendingTaskRequests,
                        "too many pending requests, or parameters too large: cancel some first"
                    )
                case BG_E_ABSENT: (.unavailable, "this host has no scheduler")
                case BG_E_CLOSED: (.unavailable, "the plugin is closed")
                case BG_E_ARG: (.unavailable, "the host does not understand this request")
                default: (.unavailable, "the host failed with status \(status)")
                }
            self.init(code, of: identifier, reason)
        }
    }
}

extension BGTaskScheduler.Error.Code {
    /// Whether an error is the scheduler's and has this code; lets `catch` name the code.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? BGTaskScheduler.Error)?.code == code
    }
}
