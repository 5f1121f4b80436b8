// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel
internal import BghostPolicy

extension TaskStatus {
    /// What it is about, in one word: `running`, `waiting` or `idle`.
    package var state: String {
        if !running.isEmpty { return "running" }
        return pending == nil ? "idle" : "waiting"
    }
}

extension JSONWriter {
    /// Writes the members of a status, for an object that has its schema already.
    package mutating func members(_ status: HostStatus) {
        member("daemon") { writer in
            writer.object { writer in
                writer.member("version", status.version)
                writer.member("pid", status.pid)
                writer.member("startedAt", time: status.startedAt)
                writer.member("manifest", status.manifest)
                writer.member("slots", status.slots)
                writer.member("slotsInUse", status.slotsInUse)
                writer.member("draining", status.isDraining)
                writer.member("simulation", status.simulation)
                writer.member("dev", status.allowsUntrustedFiles)
            }
        }
        member("problems") { writer in
            writer.array { writer in status.problems.forEach { writer.value($0) } }
        }
        member("deadLetters", status.deadLetters)
        member("tasks") { writer in
            writer.array { writer in status.tasks.forEach { writer.value($0) } }
        }
        member("tasksOmitted", status.tasksOmitted)
        member("plugins") { writer in
            writer.array { writer in status.plugins.forEach { writer.value($0) } }
        }
        member("transfers") { writer in
            writer.object { writer in
                writer.member("underWay", status.transfers.underWay)
                writer.member("ended", status.transfers.ended)
            }
        }
        member("store") { writer in writer.value(status.store) }
    }

    /// Writes how it stands with a store.
    package mutating func value(_ store: StoreStatus) {
        object { writer in
            writer.member("failingSince", time: store.failingSince)
            writer.member("problem", store.problem)
            writer.member("final", store.isFinal)
            writer.member("waiting", store.waiting)
            writer.member("holdsRuns", store.holdsRuns)
        }
    }

    private mutating func value(_ task: TaskStatus) {
        object { writer in
            writer.member("id", task.identifier)
            writer.member("plugin", task.plugin)
            writer.member("kind", task.kind.rawValue)
            writer.member("state", task.state)
            writer.member("running") { writer in
                writer.array { writer in task.running.forEach { writer.value($0) } }
            }
            writer.key("pending")
            if let pending = task.pending { writer.value(pending) } else { writer.null() }
            writer.key("last")
            if let last = task.last { writer.value(last) } else { writer.null() }
            writer.member("deadLetters", task.deadLetters)
        }
    }

    /// Writes what an operator should look at.
    package mutating func value(_ problem: StatusProblem) {
        object { writer in
            writer.member("kind", problem.kind.rawValue)
            writer.member("subject", problem.subject.isEmpty ? nil : problem.subject)
            writer.member("message", problem.message)
        }
    }

    private mutating func value(_ plugin: PluginStatus) {
        object { writer in
            writer.member("name", plugin.name)
            writer.member("library", plugin.library)
            writer.member("isolation", plugin.isolation.rawValue)
            writer.member("workers") { writer in
                writer.array { writer in plugin.workers.forEach { writer.value($0) } }
            }
            writer.member("problem", plugin.problem)
            writer.member("change", plugin.change)
            writer.member("switchedOff", plugin.switchedOff)
            writer.key("quarantine")
            if let quarantine = plugin.quarantine {
                writer.object { writer in
                    writer.member("since", time: quarantine.since)
                    writer.member("reason", quarantine.reason)
                    writer.member("library", quarantine.library)
                    writer.member("host", quarantine.host)
                }
            } else {
                writer.null()
            }
            writer.key("idleEnds")
            if let ends = plugin.idleEnds {
                writer.object { writer in
                    writer.member("count", ends.count)
                    writer.member("since", time: ends.since)
                    writer.member("last", time: ends.last)
                    writer.member("reason", ends.reason)
                }
            } else {
                writer.null()
            }
            writer.member("deadLetters", plugin.deadLetters)
            writer.member("deadLettersDropped", plugin.deadLettersDropped)
            writer.member("sandbox") { writer in
                writer.array { writer in plugin.sandbox.forEach { writer.value($0) } }
            }
        }
    }

    /// Writes how it stands with one layer of a sandbox.
    package mutating func value(_ standing: LayerStanding) {
        object { writer in
            writer.member("layer", standing.layer.rawValue)
            writer.member("state", standing.state.text)
            writer.member("detail", standing.detail)
        }
    }
}

extension HostStatus {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let daemon = json["daemon"], let version = daemon["version"]?.string,
            let pid = daemon["pid"]?.int64.flatMap(Int32.init(exactly:)),
            let startedAt = daemon.time("startedAt"),
            let tasks = json["tasks"]?.array, let plugins = json["plugins"]?.array
        else { return nil }
        self.init(
            version: version,
            pid: pid,
            startedAt: startedAt,
            manifest: daemon["manifest"]?.string ?? "",
            slots: daemon["slots"]?.int64.map(Int.init(clamping:)) ?? 0,
            isDraining: daemon["draining"]?.bool ?? false,
            tasks: tasks.compactMap(TaskStatus.init(json:)),
            tasksOmitted: Int(clamping: json["tasksOmitted"]?.int64 ?? 0),
            plugins: plugins.compactMap(PluginStatus.init(json:)),
            simulation: SimulationStatus(member: daemon["simulation"]),
            transfers: TransferCounts(
                underWay: Int(clamping: json["transfers"]?["underWay"]?.int64 ?? 0),
                ended: Int(clamping: json["transfers"]?["ended"]?.int64 ?? 0)
            ),
            store: StoreStatus(json: json["store"]),
            allowsUntrustedFiles: daemon["dev"]?.bool ?? false,
            slotsInUse: daemon["slotsInUse"]?.int64.map(Int.init(clamping:)),
            deadLetters: Int(clamping: json["deadLetters"]?.int64 ?? 0)
        )
    }
}

extension StoreStatus {
    /// A daemon that says nothing of its store is of a version that did not know.
    fileprivate init(json: JSONNode?) {
        self.init(
            failingSince: json?.time("failingSince"),
            problem: json?["problem"]?.string,
            isFinal: json?["final"]?.bool ?? false,
            waiting: Int(clamping: json?["waiting"]?.int64 ?? 0),
            holdsRuns: json?["holdsRuns"]?.bool ?? false
        )
    }
}

extension TaskStatus {
    fileprivate init?(json: JSONNode) {
        guard let identifier = json["id"]?.string, let plugin = json["plugin"]?.string,
            let kind = json["kind"]?.string.flatMap(TaskKind.init(rawValue:))
        else { return nil }
        self.init(
            identifier: identifier,
            plugin: plugin,
            kind: kind,
            running: json["running"]?.array?.compactMap(RunRecord.init(json:)) ?? [],
            pending: json["pending"].flatMap(PendingRequest.init(json:)),
            last: json["last"].flatMap(RunRecord.init(json:)),
            deadLetters: Int(clamping: json["deadLetters"]?.int64 ?? 0)
        )
    }
}

extension PluginStatus {
    fileprivate init?(json: JSONNode) {
        guard let name = json["name"]?.string, let library = json["library"]?.string,
            let isolation = json["isolation"]?.string.flatMap(Isolation.init(rawValue:))
        else { return nil }
        self.init(
            name: name,
            library: library,
            isolation: isolation,
            workers: json["workers"]?.array?.compactMap {
                $0.int64.flatMap(Int32.init(exactly:))
            } ?? [],
            problem: json["problem"]?.string,
            change: json["change"]?.string,
            sandbox: json["sandbox"]?.array?.compactMap(LayerStanding.init(json:)) ?? [],
            switchedOff: json["switchedOff"]?.string,
            quarantine: json["quarantine"].flatMap { quarantine in
                Quarantine(json: quarantine, plugin: name)
            },
            idleEnds: json["idleEnds"].flatMap(IdleWorkerEnds.init(json:)),
            deadLetters: json["deadLetters"]?.int64.map(Int.init(clamping:)) ?? 0,
            deadLettersDropped: json["deadLettersDropped"]?.int64.map(Int.init(clamping:)) ?? 0
        )
    }
}

extension Quarantine {
    fileprivate init?(json: JSONNode, plugin: String) {
        guard let reason = json["reason"]?.string else { return nil }
        self.init(
            plugin: plugin,
            library: json["library"]?.string ?? "",
            host: json["host"]?.string ?? "",
            since: json.time("since") ?? 0,
            reason: reason
        )
    }
}

extension IdleWorkerEnds {
    fileprivate init?(json: JSONNode) {
        guard let count = json["count"]?.int64, let last = json.time("last") else { return nil }
        self.init(
            count: Int(clamping: count),
            since: json.time("since") ?? last,
            last: last,
            reason: json["reason"]?.string ?? ""
        )
    }
}

extension LayerStanding {
    fileprivate init?(json: JSONNode) {
        let states: [State] = [.missing, .holds, .waived]
        guard let layer = json["layer"]?.string.flatMap(SandboxLayer.init(rawValue:)),
            let state = states.first(where: { $0.text == json["state"]?.string })
        else { return nil }
        self.init(layer, state, json["detail"]?.string ?? "")
    }
}
