// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import HTTPTypes

/// The calls of the control API: each raw value is the method and the path.
///
/// The server adds routes for these cases only, and refuses query keys that `queryKeys` does not list.
/// Tests compare the cases with the routes, and `docs/API.md` with the cases.
enum Endpoint: String, CaseIterable, Sendable {
    case version = "GET /v1/version"
    case alive = "GET /healthz"
    case ready = "GET /readyz"
    case health = "GET /v1/health"
    case metrics = "GET /metrics"
    case status = "GET /v1/status"
    case submit = "POST /v1/submit"
    case trigger = "POST /v1/tasks/:id/trigger"
    case runOfRequest = "GET /v1/requests/:id/run"
    case checkpoints = "GET /v1/checkpoints"
    case deleteCheckpoint = "DELETE /v1/requests/:id/checkpoint"
    case runs = "GET /v1/runs"
    case run = "GET /v1/runs/:id"
    case starts = "GET /v1/starts"
    case days = "GET /v1/days"
    case past = "GET /v1/past"
    case audit = "GET /v1/audit"
    case checkAudit = "GET /v1/audit/check"
    case expire = "POST /v1/runs/:id/expire"
    case stop = "POST /v1/runs/:id/stop"
    case pending = "GET /v1/pending"
    case cancelAll = "DELETE /v1/pending"
    case cancel = "DELETE /v1/tasks/:id/pending"
    case cancelTag = "DELETE /v1/tags/:name/pending"
    case dead = "GET /v1/dead"
    case redrive = "POST /v1/dead/redrive"
    case discard = "POST /v1/dead/discard"
    case throttle = "GET /v1/throttle"
    case clearThrottle = "DELETE /v1/tasks/:id/throttle"
    case uses = "GET /v1/uses"
    case addUse = "POST /v1/tasks/:id/uses"
    case clearUses = "DELETE /v1/tasks/:id/uses"
    case fleet = "GET /v1/fleet"
    case fleetRequests = "GET /v1/fleet/requests"
    case cancelFleetRequest = "DELETE /v1/fleet/requests/:id"
    case drainHost = "POST /v1/fleet/hosts/:name/drain"
    case undrainHost = "DELETE /v1/fleet/hosts/:name/drain"
    case pauses = "GET /v1/pauses"
    case pause = "POST /v1/pauses"
    case resume = "DELETE /v1/pauses"
    case disable = "POST /v1/plugins/:name/disable"
    case enable = "POST /v1/plugins/:name/enable"
    case drainStatus = "GET /v1/drain"
    case drain = "POST /v1/drain"
    case reload = "POST /v1/reload"
    case backup = "POST /v1/backup"
    case why = "GET /v1/why"
    case plan = "GET /v1/plan"
    case simulateFact = "POST /v1/simulate/fact"
    case simulateClock = "POST /v1/simulate/clock"
    case outbox = "GET /v1/notifications"
    case testNotification = "POST /v1/notifications/test"
    case act = "POST /v1/notifications/act"
    case alerts = "GET /v1/alerts"
    case testAlerts = "POST /v1/alerts/test"
    case transfers = "GET /v1/transfers"
    case cancelTransfer = "POST /v1/transfers/:id/cancel"
    case retryTransfer = "POST /v1/transfers/:id/retry"
    case logs = "GET /v1/logs"
    case ticket = "POST /v1/web/tickets"
    case beginSession = "POST /v1/web/session"
    case endSession = "DELETE /v1/web/session"

    /// The method as text.
    var verb: String { String(rawValue.prefix { $0 != " " }) }

    /// The path, with `:name` for each variable part.
    var path: String { String(rawValue.drop { $0 != "/" }) }

    var method: HTTPRequest.Method { HTTPRequest.Method(verb) ?? .get }

    /// `GET` needs the role `read`, every other method `operate`, but for those about a session, which has
    /// the role of its client.
    var role: ControlRole {
        switch self {
        case .ticket, .beginSession, .endSession: .read
        default: method == .get ? .read : .operate
        }
    }

    /// A key that a query may have.
    struct QueryKey: Equatable, Sendable {
        let name: String
        /// What it asks for; a sentence for `docs/API.md`.
        let summary: String

        init(_ name: String, _ summary: String) {
            self.name = name
            self.summary = summary
        }

        static let task = QueryKey("task", "Only of this task.")

        static func limit(_ most: Int, default usual: Int) -> QueryKey {
            QueryKey("limit", "At most so many, 1 to \(most); absent: \(usual).")
        }
    }

    /// The keys that the server reads; it refuses others.
    var queryKeys: [QueryKey] {
        switch self {
        case .version, .alive, .ready, .health, .metrics, .submit, .runOfRequest, .run, .expire,
            .stop,
            .deleteCheckpoint,
            .clearThrottle, .addUse, .clearUses, .fleet, .cancelFleetRequest, .drainHost,
            .undrainHost, .pauses, .drainStatus, .enable, .outbox,
            .testNotification, .act, .alerts, .testAlerts,
            .cancelTransfer, .retryTransfer, .ticket, .beginSession, .endSession:
            []
        case .status:
            [
                QueryKey(
                    "task",
                    "Only of this task; it may occur up to \(ControlLimits.namesMax) times."
                )
            ]
        case .trigger:
            [QueryKey("wait", "`true` answers when the run has ended; absent: when it is stored.")]
        case .runs: Self.runKeys
        case .starts: Self.startKeys
        case .days: Self.dayKeys
        case .past: Self.pastKeys
        case .audit: Self.auditKeys
        case .checkAudit:
            [
                QueryKey(
                    "head",
                    "A number and a sum that the log has, such as `812:9f2c…`: the row must be in the chain."
                )
            ]
        case .transfers: Self.transferKeys
        case .pending: Self.pendingKeys
        case .cancelAll, .cancel, .cancelTag: [.expected]
        case .dead: Self.deadKeys
        case .fleetRequests: Self.fleetRequestKeys
        case .checkpoints: Self.checkpointKeys
        case .throttle, .uses: [.task]
        case .redrive, .discard:
            [
                QueryKey("request", "The dead letter whose request's id begins like this."),
                QueryKey("task", "All dead letters of this task."),
                QueryKey("all", "`true`: all dead letters. Exactly one of the three is needed."),
                .expected,
            ]
        case .pause:
            Self.pauseKeys + [
                QueryKey(
                    "until",
                    "The pause ends at this time: RFC 3339, or a date or time of day in the zone of the manifest."
                ),
                QueryKey("for", "The pause ends after so many seconds."),
                QueryKey(
                    "reason",
                    "What `bghost status` shows, at most \(ControlLimits.reasonBytesMax) bytes."
                ),
            ]
        case .resume: Self.pauseKeys
        case .disable:
            [
                QueryKey(
                    "reason",
                    "What `bghost status` shows, at most \(ControlLimits.reasonBytesMax) bytes."
                ),
                QueryKey("stop", "`true` also cancels the plugin's runs."),
            ]
        case .drain:
            [
                QueryKey(
                    "finish",
                    "`true` lets runs end by themselves; absent: they are cancelled."
                ),
                QueryKey(
                    "within",
                    "With `finish`: cancels those that are left after so many seconds; absent: never."
                ),
                QueryKey(
                    "wait",
                    "`true` answers when no run is left or the rest is cancelled; absent: at once."
                ),
            ]
        case .reload:
            [QueryKey("dryRun", "`true` only says what a reload would change or refuse.")]
        case .backup:
            [
                QueryKey("folder", "The absolute path of the copy; needed."),
                QueryKey("data", "`true` copies the data directories of the plugins, too."),
            ]
        case .why:
            [
                QueryKey(
                    "id",
                    "A task, the pattern of a family, or the id of a request or how it begins; needed."
                )
            ]
        case .plan: Self.planKeys
        case .simulateFact:
            [
                QueryKey(
                    "set",
                    "`network=off`, `network=on`, `network=unknown`, `network=real`; needed."
                )
            ]
        case .simulateClock:
            [QueryKey("set", "`+6h`, a time as RFC 3339 has it, or `real`; needed.")]
        case .logs:
            [
                .task,
                QueryKey("plugin", "Only of this plugin."),
                QueryKey("run", "Only of the run whose id begins like this."),
                QueryKey("level", "Only of this level or above."),
                QueryKey("since", "Only from this time on; not with `follow`."),
                QueryKey("until", "Only before this time; not with `follow`."),
                QueryKey("text", "Only with this text; ASCII letters match both cases."),
                QueryKey(
                    "before",
                    "Only before this place: `next` of the last page; not with `follow`."
                ),
                QueryKey(
                    "limit",
                    "At most so many, 0 to \(ControlLimits.logLinesMax); absent: \(ControlLimits.logLinesUsual)."
                ),
                QueryKey("follow", "`true` goes on with new entries until the client disconnects."),
            ]
        }
    }
}
