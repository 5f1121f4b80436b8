// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostPlugin
internal import BghostWire
internal import CBghost

extension HostBehavior {
    /// The number of entries each time that a list is requested.
    ///
    /// The number changes between two calls, as if other runs and workers added and removed
    /// entries; later it stays the same.
    private static let counts = [1, 3, 70, 200, 256, 0, 2]

    /// The answer to a call.
    ///
    /// - Parameter time: how many lists of the same kind were requested before.
    func answer(to operation: Call.Operation, time: Int) -> HostAnswer {
        switch self {
        case .refusing: HostAnswer(status: BG_E_LIMIT)
        case .denying: operation.denial ?? operation.answer(entries: 0)
        case .changing: operation.answer(entries: Self.counts[min(time, Self.counts.count - 1)])
        case .prompt, .silent: operation.answer(entries: 0)
        }
    }
}

extension Call.Operation {
    /// Whether the host may take as long as it likes to answer this call.
    var isLong: Bool {
        switch self {
        case .fetch, .transfer(.wait): true
        case .submit, .cancelPending, .cancelAllPending, .pending, .cancelFetch, .situation,
            .saveCheckpoint, .loadCheckpoint, .post,
            .withdrawNotification, .notifications, .transfer(.begin), .transfer(.cancel),
            .transfer(.list), .transfer(.acknowledge), .transfer(.took), .transfer(.keep),
            .transfer(.claim):
            false
        }
    }

    /// The kind of the requested list; `nil` for other calls.
    var list: String? {
        switch self {
        case .pending: "requests"
        case .notifications: "notifications"
        case .transfer(.list): "transfers"
        case .transfer(.claim): "ends"
        case .submit, .cancelPending, .cancelAllPending, .fetch, .cancelFetch, .situation,
            .saveCheckpoint, .loadCheckpoint, .post,
            .withdrawNotification, .transfer(.begin), .transfer(.wait), .transfer(.cancel),
            .transfer(.acknowledge), .transfer(.took), .transfer(.keep):
            nil
        }
    }

    /// The answer of a host whose manifest permits nothing; `nil` if it answers as other hosts do.
    fileprivate var denial: HostAnswer? {
        switch self {
        case .submit, .cancelPending, .post, .transfer(.begin), .transfer(.list):
            HostAnswer(status: BG_E_PERM)
        case .fetch:
            HostAnswer(
                status: BG_E_PERM,
                body: .fetched(httpStatus: 0, headers: "", message: "not permitted", body: [])
            )
        case .withdrawNotification, .transfer(.wait), .transfer(.cancel), .transfer(.acknowledge),
            .transfer(.took), .transfer(.keep), .transfer(.claim), .loadCheckpoint:
            HostAnswer(status: BG_E_ABSENT)
        case .situation:
            HostAnswer(
                status: BG_OK,
                body: .situation(Situation(refresh: UInt32(BG_REFRESH_DENIED)))
            )
        case .cancelAllPending, .pending, .cancelFetch, .saveCheckpoint, .notifications: nil
        }
    }

    /// The smallest successful answer to the call.
    ///
    /// - Parameter entries: the number of entries in a list.
    fileprivate func answer(entries: Int) -> HostAnswer {
        switch self {
        case .transfer(.list(let session, let after, let bytesMax)):
            Self.transfers(session, after: after, entries, bytesMax: Int(bytesMax))
        case .transfer(.claim(let session, let bytesMax)):
            Self.transfers(session, after: "", entries, bytesMax: Int(bytesMax))
        // No attempt came before that could have saved one.
        case .loadCheckpoint: HostAnswer(status: BG_E_ABSENT)
        // What `body` decides about each of the other calls.
        default: HostAnswer(status: BG_OK, body: body(entries: entries))
        }
    }

    private func body(entries: Int) -> HostAnswer.Body {
        switch self {
        case .pending:
            .pending(
                (0..<entries).map {
                    PendingEntry(
                        task: "org.example.check.\($0)",
                        kind: UInt32(BG_KIND_REFRESH),
                        earliestUnixMilliseconds: 0
                    )
                },
                next: 0
            )
        case .fetch: .fetched(httpStatus: 200, headers: "", message: "", body: [])
        case .notifications:
            .fetched(
                httpStatus: 0,
                headers: "",
                message: "",
                body: Array(Self.notifications(entries).utf8)
            )
        case .situation: .situation(Situation(refresh: UInt32(BG_REFRESH_AVAILABLE)))
        case .transfer(.begin): .transfer(id: Self.transferID(0))
        case .transfer(.wait(let id)): .transfers(Array(Self.transfer(id, "check").utf8))
        case .submit, .cancelPending, .cancelAllPending, .cancelFetch, .saveCheckpoint,
            .loadCheckpoint, .post,
            .withdrawNotification, .transfer(.cancel), .transfer(.list), .transfer(.acknowledge),
            .transfer(.took), .transfer(.keep), .transfer(.claim):
            .none
        }
    }

    // MARK: Lists

    private static func notifications(_ count: Int) -> String {
        var writer = JSONWriter()
        writer.array { writer in
            for index in 0..<count {
                writer.object { writer in
                    writer.member("id", "check-\(index)")
                    writer.member("level", Int(BG_NOTIFY_ACTIVE))
                    for name in ["title", "subtitle", "body", "thread", "category"] {
                        writer.member(name, "")
                    }
                    writer.member("user_info", raw: "{}")
                    writer.member("actions", raw: "[]")
                    writer.member("at_unix_ms", 0)
                    writer.member("every_ms", 0)
                    writer.member("calendar", "")
                    writer.member("time_zone", "")
                }
            }
        }
        return writer.text
    }

    /// As many transfers as fit, or the size of the first one.
    private static func transfers(
        _ session: String,
        after: String,
        _ count: Int,
        bytesMax: Int
    ) -> HostAnswer {
        var json = "["
        var need = 2
        for id in (0..<count).map(transferID) where id > after {
            let entry = (json.utf8.count > 1 ? "," : "") + transfer(id, session)
            let length = json.utf8.count + entry.utf8.count + 1
            // With 0, the call requests the length of all.
            guard bytesMax == 0 || length <= bytesMax else {
                if json.utf8.count == 1 { need = length }
                break
            }
            json += entry
        }
        json += "]"
        need = max(need, json.utf8.count)
        guard bytesMax >= need else {
            return HostAnswer(
                status: bytesMax == 0 ? BG_OK : BG_E_SMALL,
                body: .needs(UInt64(need))
            )
        }
        return HostAnswer(status: BG_OK, body: .transfers(Array(json.utf8)))
    }

    private static func transferID(_ index: Int) -> String {
        let digits = String(index + 1)
        return String(repeating: "0", count: 26 - digits.count) + digits
    }

    private static func transfer(_ id: String, _ session: String) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", id)
            writer.member("session", session)
            writer.member("url", "https://example.org/")
            writer.member("label", "")
            writer.member("continuation", "")
            writer.member("upload", false)
            writer.member("state", "failed")
            writer.member("status", 0)
            writer.member("headers", raw: "[]")
            writer.member("body", "")
            writer.member("file", "")
            writer.member("bytes", 0)
            writer.member("total", -1)
            writer.member("fault") { writer in
                writer.object { writer in
                    writer.member("code", "network")
                    writer.member("message", "checked without a network")
                }
            }
        }
        return writer.text
    }
}
