// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

extension ManifestBuilder {
    // MARK: The host

    /// Reads the section `host.alerts`; `nil` if there is none.
    func alerts(_ node: JSONNode?, in source: ManifestSource) -> AlertSettings? {
        guard let node else { return nil }
        var settings = AlertSettings()
        let receivers = node["to"]?.array ?? []
        settings.receivers = receivers.compactMap { receiver($0, in: source) }
        if let span = node["to"]?.span {
            if receivers.isEmpty {
                collector.report(
                    .badReceiver,
                    at: span,
                    in: source,
                    "`alerts` names no receiver",
                    help:
                        "add one such as {\"ntfy\": \"https://ntfy.sh/TOPIC\"}, or remove `alerts`"
                )
            } else if receivers.count > AlertSettings.receiversMax {
                collector.report(
                    .outOfRange,
                    at: span,
                    in: source,
                    "`alerts` names \(receivers.count) receivers",
                    label: "\(AlertSettings.receiversMax) are the most"
                )
            }
        }
        settings.repeatPeriod = duration(node["repeat"]) ?? settings.repeatPeriod
        settings.digest = duration(node["digest"]) ?? settings.digest
        for entry in node["mute"]?.array ?? [] {
            // `TextFormat` has reported a text that is none.
            guard let text = entry.string, let window = try? MuteWindow(text),
                settings.mute.add(window) != nil
            else { continue }
            collector.report(
                .badMuteWindow,
                at: entry.span,
                in: source,
                "the window \(text.quoted) overlaps an earlier one",
                help: "write one window that has both"
            )
        }
        return settings
    }

    func heartbeat(_ node: JSONNode?, in source: ManifestSource) -> HeartbeatSettings? {
        guard let node, let url = url(node["url"], in: source) else { return nil }
        var settings = HeartbeatSettings(url: url)
        settings.every = duration(node["every"]) ?? settings.every
        return settings
    }

    /// Reads one receiver, which has exactly one kind and the keys that belong to it.
    private func receiver(_ node: JSONNode, in source: ManifestSource) -> AlertReceiver? {
        guard let members = node.object else { return nil }
        let kinds = members.filter { ManifestKeys.receiver.alternatives.contains($0.key) }
        guard let kind = kinds.first, kinds.count == 1 else {
            collector.report(
                .badReceiver,
                at: kinds.dropFirst().first?.keySpan ?? node.span,
                in: source,
                kinds.isEmpty
                    ? "a receiver names nothing to send to"
                    : "a receiver names both `\(kinds[0].key)` and `\(kinds[1].key)`",
                help: "give each receiver exactly one of `webhook`, `ntfy`, `command` and `task`"
            )
            return nil
        }
        let others = ["headers": "webhook", "secret": "webhook", "token": "ntfy", "to": "command"]
        for member in members {
            guard let owner = others[member.key], owner != kind.key else { continue }
            collector.report(
                .badReceiver,
                at: member.keySpan,
                in: source,
                "`\(member.key)` says nothing beside `\(kind.key)`",
                label: "it belongs to `\(owner)`"
            )
        }
        switch kind.key {
        case "webhook":
            guard let url = url(node["webhook"], in: source) else { return nil }
            return .webhook(
                url: url,
                headers: headers(node["headers"], in: source),
                secret: secret(node["secret"], in: source)
            )
        case "ntfy":
            guard let url = url(node["ntfy"], in: source) else { return nil }
            return .ntfy(url: url, token: secret(node["token"], in: source))
        case "command": return command(node, in: source)
        default:
            return node["task"]?.string.map { .notifications(task: $0) }
        }
    }

    private func command(_ node: JSONNode, in source: ManifestSource) -> AlertReceiver? {
        let arguments = node["command"]?.array?.compactMap(\.string) ?? []
        guard let path = arguments.first, path.hasPrefix("/") else {
            collector.report(
                .badReceiver,
                at: node["command"]?.array?.first?.span ?? node["command"]?.span ?? node.span,
                in: source,
                arguments.isEmpty
                    ? "`command` names no program"
                    : "`command` does not begin with an absolute path",
                help: "such as [\"/usr/sbin/sendmail\", \"-t\"]; there is no shell"
            )
            return nil
        }
        trust.require(
            path,
            of: "the program of a receiver",
            at: node["command"]?.array?.first?.span ?? node.span,
            in: source
        )
        return .command(arguments: arguments, to: node["to"]?.string)
    }

    func headers(_ node: JSONNode?, in source: ManifestSource) -> [AlertHeader] {
        (node?.object ?? []).compactMap { member in
            guard let written = member.value.string else {
                collector.report(
                    .wrongType,
                    at: member.value.span,
                    in: source,
                    "the header \(member.key.quoted) is \(member.value.typeName)",
                    label: "a string is needed"
                )
                return nil
            }
            let isToken = member.key.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                    || "!#$%&'*+-.^_`|~".utf8.contains($0)
            }
            let isReserved = Self.reservedHeaders.contains(member.key.lowercased())
            if member.key.isEmpty || !isToken || isReserved {
                collector.report(
                    .badName,
                    at: member.keySpan,
                    in: source,
                    isReserved
                        ? "bghost sets the header \(member.key.quoted) itself"
                        : "\(member.key.quoted) cannot name a header"
                )
                return nil
            }
            let value = expansion(source).expand(written, at: member.value.span)
            if let fault = WebAddressCheck.secretFault(in: value) {
                report(fault, "the header \(member.key.quoted)", member.value, in: source)
            }
            return AlertHeader(name: member.key, value: value)
        }
    }

    /// Headers that the HTTP client sets, or that say how the body is to be read.
    private static let reservedHeaders: Set = [
        "connection", "content-length", "content-type", "expect", "host", "keep-alive",
        "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade", "x-bghost-fence", "x-bghost-signature",
    ]

    private func secret(_ node: JSONNode?, in source: ManifestSource) -> String? {
        guard let node, let written = node.string else { return nil }
        let value = expansion(source).expand(written, at: node.span)
        if value != written, let fault = WebAddressCheck.secretFault(in: value) {
            report(fault, "the secret, once it is in place,", node, in: source)
        }
        return value
    }

    /// Reads a URL; messages show it as written, because the resolved one may contain a secret.
    func url(_ node: JSONNode?, in source: ManifestSource) -> String? {
        guard let node, let written = node.string else { return nil }
        let value = expansion(source).expand(written, at: node.span)
        // A reference that could not be resolved is reported already.
        if value != written, !value.containsASCII("${"),
            let fault = WebAddressCheck.plainFault(in: value)
        {
            report(fault, "\(written.quoted), once its secrets are in place,", node, in: source)
        }
        return value
    }

    private func report(
        _ fault: TextFault,
        _ subject: String,
        _ node: JSONNode,
        in source: ManifestSource
    ) {
        collector.report(
            fault.code,
            at: node.span,
            in: source,
            "\(subject) cannot be used: \(fault.reason)",
            label: fault.label
        )
    }

    // MARK: Tasks

    /// Reads what is expected of a task.
    func expect(
        _ entry: ManifestEntry,
        _ host: HostSettings,
        isScheduled: Bool,
        _ limits: RunLimits
    ) -> TaskExpectation {
        let node = entry.node["expect"]
        let hasAlerts = host.alerts != nil || host.heartbeat != nil
        if let node, !hasAlerts, node.bool != false {
            collector.report(
                .expectsInVain,
                severity: .warning,
                at: node.span,
                in: entry.source,
                "`expect` of task \(entry.name.quoted) makes no alert, since the host has no `alerts`",
                help: "add `alerts` or `heartbeat` to `host`, or remove this key"
            )
        }
        guard node?.bool != false else { return TaskExpectation() }
        let usual = isScheduled ? TaskExpectation.ofSchedules : TaskExpectation()
        var expectation = TaskExpectation(
            every: duration(node?["every"]),
            start: duration(node?["start"]) ?? usual.start,
            runtime: duration(node?["runtime"]),
            failures: node?["failures"]?.int64.map { Int(clamping: $0) } ?? usual.failures
        )
        if let runtime = expectation.runtime, runtime >= limits.runtime {
            refuse(
                "runtime",
                of: entry,
                "is never exceeded: a run is stopped after \(DurationText.of(limits.runtime))",
                "shorter than `limits.runtime`"
            )
            expectation.runtime = nil
        }
        if let every = expectation.every, let period = duration(entry.node["every"]), every < period
        {
            refuse(
                "every",
                of: entry,
                "cannot be met: the task is due every \(DurationText.of(period))",
                "longer than the task's `every`"
            )
        }
        return expectation
    }

    private func refuse(_ key: String, of entry: ManifestEntry, _ why: String, _ wanted: String) {
        collector.report(
            .outOfRange,
            at: entry.node["expect"]?[key]?.span ?? entry.keySpan,
            in: entry.source,
            "`expect.\(key)` of task \(entry.name.quoted) \(why)",
            label: "it must be \(wanted)"
        )
    }
}

extension ReferenceCheck {
    /// Checks that a receiver which is a task is the one that delivers notifications.
    func checkReceivers(_ delivers: String?, _ main: ManifestSource) {
        let node = main.members.first { $0.key == "host" }?.value["alerts"]?["to"]
        for receiver in node?.array ?? [] {
            guard let task = receiver["task"], let name = task.string, name != delivers else {
                continue
            }
            collector.report(
                .badReceiver,
                at: task.span,
                in: main,
                "the receiver \(name.quoted) does not deliver notifications",
                label: delivers.map { "`notifications` names \"\($0.escapedForMessage)\"" },
                help: "name the task of the section `notifications`"
                    + (delivers == nil ? ", which is missing" : "")
            )
        }
    }
}
