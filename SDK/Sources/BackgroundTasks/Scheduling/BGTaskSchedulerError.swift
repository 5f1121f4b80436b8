// SPDX-License-Identifier: Apache-2.0

internal import CBghost

extension BGTaskScheduler {
    /// Why the scheduler did not accept a request.
    ///
    /// To catch one case, use its code: `catch BGTaskScheduler.Error.notPermitted`.
    public struct Error: Swift.Error, Hashable, Sendable, CustomStringConvertible {
        /// Apple's codes with their numbers.
        public enum Code: Int, Sendable {
            /// There is no scheduler here, or it cannot accept this request now.
            case unavailable = 1
            /// There are too many pending requests.
            case tooManyPendingTaskRequests = 2
            /// `tasks.json` does not permit the identifier for this plugin, or defines it with
            /// another kind.
            case notPermitted = 3
            /// The task cannot start at once, and its request has the strategy `fail`.
            case immediateRunIneligible = 4
        }

        /// The error domain in source for Apple's platforms.
        public static let errorDomain = "BGTaskSchedulerErrorDomain"

        /// The code.
        public let code: Code
        /// What is wrong and what to do, in one line.
        public let reason: String
        /// The identifier in the request.
        public let identifier: String

        /// The number of the code.
        public var errorCode: Int { code.rawValue }

        /// The identifier and the reason.
        public var description: String { "\(identifier): \(reason)" }

        /// The code for a host without a scheduler.
        public static var unavailable: Code { .unavailable }
        /// The code for too many pending requests.
        public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
        /// The code for an identifier that is not permitted.
        public static var notPermitted: Code { .notPermitted }
        /// The code for a task that cannot start at once.
        public static var immediateRunIneligible: Code { .immediateRunIneligible }

        /// Creates an error, for test hosts.
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
                case BG_E_KIND:
                    (
                        .notPermitted,
                        "the task has another kind in tasks.json: set its `kind` there, or submit a "
                            + "request of its kind"
                    )
                case BG_E_NOT_NOW:
                    (
                        .immediateRunIneligible,
                        "it cannot start at once: the log of the host says what it would wait for; "
                            + "with the strategy `queue` it waits"
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

extension BGTaskScheduler {
    /// The error domain in source for Apple's platforms.
    public static let errorDomain = Error.errorDomain
}

extension BGTaskScheduler.Error.Code {
    /// Whether an error is a scheduler error with this code; this permits `catch` with a code.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? BGTaskScheduler.Error)?.code == code
    }
}
