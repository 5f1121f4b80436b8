// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

extension API {
    /// The version and the process of the daemon, or the version of the program.
    package struct Version: Codable, Equatable, Sendable {
        /// Such as `0.2.0`.
        package var version: String
        /// The process id of the daemon; absent in the output of `bghost version`.
        @OrAbsent package var pid: Int32?

        package init(version: String, pid: Int32? = nil) {
            self.version = version
            self.pid = pid
        }
    }

    /// One request.
    package struct RequestAnswer: Codable, Equatable, Sendable {
        /// The request.
        package var request: Request

        package init(request: Request) { self.request = request }
    }

    /// One run.
    package struct RunAnswer: Codable, Equatable, Sendable {
        /// The run.
        package var run: Run

        package init(run: Run) { self.run = run }
    }

    /// Runs, the newest first.
    package struct RunList: Codable, Equatable, Sendable {
        /// The runs.
        @Elements package var runs: [Run]
        /// `before` for the next page; null if there are no older runs.
        @OrNull package var next: Int64?
        /// `after` for a later question: it then answers only what has ended since.
        @OrDefault package var newer: Int64
        /// When the oldest run ended that was read, if the search stopped there, after 20,000 runs; null
        /// if it is complete.
        @FormOrNull<RFC3339> package var searchedTo: Int64?

        package init(
            runs: [Run],
            next: Int64? = nil,
            newer: Int64 = 0,
            searchedTo: Int64? = nil
        ) {
            self.runs = runs
            self.next = next
            self.newer = newer
            self.searchedTo = searchedTo
        }

        package init(_ page: RunPage) {
            self.init(
                runs: page.runs.map(Run.init),
                next: page.next,
                newer: page.newest,
                searchedTo: page.searchedTo
            )
        }
    }

    /// A run that was cancelled.
    package struct CancelledRun: Codable, Equatable, Sendable {
        /// The id of the run.
        @Formatted<ULID> package var run: RunID
        /// The identifier of its task.
        package var task: String
        /// The time that it has to stop, seconds; 0 if it had not begun.
        @Formatted<Seconds> package var graceSeconds: Duration

        package init(run: RunID, task: String, graceSeconds: Duration) {
            self.run = run
            self.task = task
            self.graceSeconds = graceSeconds
        }

        /// - Parameter run: as it was before.
        package init(_ run: RunRecord) {
            let grace = run.startedAt == nil ? .zero : run.limits.grace
            self.init(run: run.id, task: run.task, graceSeconds: grace)
        }
    }

    /// Waiting requests.
    package struct PendingRequests: Codable, Equatable, Sendable {
        /// In the order of their tasks, and for one task in the order in which they would start.
        @Elements package var requests: [Request]
        /// The number of all waiting requests, or of all of the task; null if another condition selects
        /// them and the page does not have them all.
        @OrNull package var total: Int?
        /// `cursor` for the next page, also if this page is shorter than its limit or empty, since it ends after
        /// 131,072 identifiers; null if there is none.
        @OrNull package var next: String?

        package init(requests: [Request], total: Int?, next: String? = nil) {
            self.requests = requests
            self.total = total
            self.next = next
        }
    }

    /// Withdrawn requests.
    package struct Withdrawn: Codable, Equatable, Sendable {
        /// The task whose requests were withdrawn; null for several tasks.
        @OrNull package var task: String?
        /// Whether any request was withdrawn.
        @OrDefault package var cancelled: Bool
        /// The number of withdrawn requests.
        @OrNull package var count: Int?
        /// At most as many of them as one answer can contain.
        @Elements package var requests: [Request]

        package init(task: String?, cancelled: Bool, count: Int, requests: [Request]) {
            self.task = task
            self.cancelled = cancelled
            self.count = count
            self.requests = requests
        }
    }

    /// Dead letters, the newest first.
    package struct DeadLetters: Codable, Equatable, Sendable {
        /// The dead letters.
        @Elements package var deadLetters: [DeadLetter]
        /// `cursor` for the next page, also if this page is shorter than its limit or empty, since it ends after
        /// 20,000 rows; null if there is none.
        @OrNull package var next: String?

        package init(deadLetters: [DeadLetter], next: String? = nil) {
            self.deadLetters = deadLetters
            self.next = next
        }
    }

    /// The throttle points of tasks.
    package struct Throttles: Codable, Equatable, Sendable {
        /// The tasks, in the order of their names.
        @Elements package var tasks: [ThrottleStatus]

        package init(tasks: [ThrottleStatus]) { self.tasks = tasks }
    }

    /// Throttle points that were cleared.
    package struct ClearedThrottle: Codable, Equatable, Sendable {
        /// The identifier of the task.
        @OrDefault package var task: String
        /// The points before.
        package var points: Int

        package init(task: String, points: Int) {
            self.task = task
            self.points = points
        }
    }

    /// The learned uses of tasks.
    package struct Uses: Codable, Equatable, Sendable {
        /// The tasks.
        @Elements package var tasks: [UseStatus]

        package init(tasks: [UseStatus]) { self.tasks = tasks }
    }

    /// A copy of the daemon's state.
    package struct Backup: Codable, Equatable, Sendable {
        /// The path of the copy, a folder on the daemon's machine.
        @OrDefault package var folder: String
        /// The size of its files without holes, bytes.
        package var bytes: UInt64
        /// The number of files in data directories that cannot be copied, such as sockets.
        @OrDefault package var omitted: Int

        package init(folder: String, bytes: UInt64, omitted: Int) {
            self.folder = folder
            self.bytes = bytes
            self.omitted = omitted
        }
    }

    /// The notifications that wait, are being delivered, or can be answered, the oldest first.
    package struct Outbox: Codable, Equatable, Sendable {
        /// The notifications.
        @Elements package var notifications: [NotificationStatus]

        package init(notifications: [NotificationStatus]) { self.notifications = notifications }
    }

    /// The transfers whose end is not acknowledged, the oldest first.
    package struct Transfers: Codable, Equatable, Sendable {
        /// The transfers of the page, by their ids.
        @Elements package var transfers: [TransferView]
        /// The number of all transfers.
        @OrDefault package var total: Int
        /// The `cursor` of the next page; null if there are no more.
        @OrNull package var next: String?

        package init(transfers: [TransferView], total: Int, next: String? = nil) {
            self.transfers = transfers
            self.total = total
            self.next = next
        }
    }

    /// One transfer.
    package struct TransferAnswer: Codable, Equatable, Sendable {
        /// The transfer.
        package var transfer: TransferView

        package init(transfer: TransferView) { self.transfer = transfer }
    }

    /// Lines of the log, the oldest first.
    package struct LogLines: Codable, Equatable, Sendable {
        /// The lines.
        @Elements package var entries: [LogLine]
        /// The `before` of the next page, whose lines are older; null if there is none.
        @EmptyAsNull package var next: String
        /// Why older lines may be missing, for people; null if none are.
        @EmptyAsNull package var note: String

        package init(entries: [LogLine], next: String = "", note: String = "") {
            self.entries = entries
            self.next = next
            self.note = note
        }

        package init(_ page: LogPage) {
            self.init(
                entries: page.entries.map(LogLine.init),
                next: page.next?.description ?? "",
                note: page.note ?? ""
            )
        }
    }

    /// The answer to a request that failed, and the output of a command that failed.
    package struct Failure: Codable, Equatable, Sendable {
        /// What went wrong.
        package var error: Fault

        package init(error: Fault) { self.error = error }
    }

    /// What went wrong.
    package struct Fault: Codable, Equatable, Sendable {
        /// A stable code such as `BG2101`, which `bghost help` explains; null if there is none.
        @OrNull package var code: String?
        /// The problem, one sentence without a full stop.
        package var message: String
        /// How to resolve it; "" if the message says so.
        @OrDefault package var fix: String
        /// Similar names or ids; the daemon omits the key if there are none.
        @OrAbsent package var candidates: [String]?
        /// The exit status of the command; absent in answers of the daemon.
        @OrAbsent package var exit: Int?

        package init(
            code: String?,
            message: String,
            fix: String,
            candidates: [String]?,
            exit: Int? = nil
        ) {
            self.code = code
            self.message = message
            self.fix = fix
            self.candidates = candidates
            self.exit = exit
        }
    }
}
