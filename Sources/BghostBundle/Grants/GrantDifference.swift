// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
package import BghostManifest
internal import BghostModel

/// What an update asks for, compared with what was granted.
///
/// In doubt a change counts as more: the operator is then asked once too often, and never too seldom.
package struct GrantDifference: Equatable, Sendable {
    /// What is new or larger: it needs consent.
    package private(set) var more: [String] = []
    /// What is gone or smaller.
    package private(set) var less: [String] = []
    /// What changed without permitting more: settings and parameters.
    package private(set) var other: [String] = []

    package init(
        from old: GrantList,
        to new: GrantList,
        _ zones: ZoneSource
    ) throws(BundleError) {
        let (before, after) = (try old.manifest(zones), try new.manifest(zones))
        comparePermissions(old, new)
        compareSettings(old.plugin, new.plugin)
        if let first = before.plugins.first?.limits, let second = after.plugins.first?.limits {
            compare(first, second)
        }
        compareSessions(old.sessions, new.sessions)
        for identifier in old.identifiers where !new.identifiers.contains(identifier) {
            less.append("task \(identifier)")
        }
        for identifier in new.identifiers {
            guard let node = old.tasks[identifier], let other = new.tasks[identifier] else {
                more.append("task \(identifier)")
                continue
            }
            compareTask(identifier, node, other)
            let limits = [before, after].compactMap { manifest in
                manifest.tasks.first { $0.identifier.description == identifier }?.limits
            }
            guard let first = limits.first, let second = limits.last else { continue }
            compare("task \(identifier), runtime", first.runtime, second.runtime)
            compare("task \(identifier), grace", first.grace, second.grace)
        }
    }

    // MARK: The plugin

    private mutating func comparePermissions(_ old: GrantList, _ new: GrantList) {
        func permissions(_ list: GrantList) -> [Grant] {
            list.grants.filter { $0.path.dropFirst(2).first == "permissions" && $0.isPlugins }
        }
        let (before, after) = (permissions(old), permissions(new))
        more += after.filter { !before.contains($0) }.map { "\($0.subject): \($0.text)" }
        less += before.filter { !after.contains($0) }.map { "\($0.subject): \($0.text)" }
    }

    private mutating func compareSettings(_ old: JSONNode, _ new: JSONNode) {
        for key in GrantList.pluginKeys where !["permissions", "limits"].contains(key) {
            let (before, after) = (old[key], new[key])
            guard before != after else { continue }
            let change = "\(key): \(before?.text ?? "none") → \(after?.text ?? "none")"
            switch key {
            case "config": other.append(change)
            case "require" where Self.isSubset(before, of: after): less.append(change)
            default: more.append(change)
            }
        }
    }

    private static func isSubset(_ small: JSONNode?, of large: JSONNode?) -> Bool {
        (small?.array ?? []).allSatisfy { (large?.array ?? []).contains($0) }
    }

    private mutating func compare(_ old: WorkerLimits, _ new: WorkerLimits) {
        compare("memory", old.memoryBytes, new.memoryBytes)
        compare("cpu", old.cpu, new.cpu)
        compare("cpuQuota", old.cpuQuota, new.cpuQuota)
        compare("processes", old.processes, new.processes)
        compare("descriptors", old.descriptors, new.descriptors)
        compare("output", old.outputBytes, new.outputBytes)
        compare("result", old.resultBytes, new.resultBytes)
        compare("data", old.dataBytes, new.dataBytes)
        compare("files", old.files, new.files)
        // A limit that is not among them: in doubt, it is more.
        var rest = old
        rest.memoryBytes = new.memoryBytes
        rest.cpu = new.cpu
        rest.cpuQuota = new.cpuQuota
        rest.processes = new.processes
        rest.descriptors = new.descriptors
        rest.outputBytes = new.outputBytes
        rest.resultBytes = new.resultBytes
        rest.dataBytes = new.dataBytes
        rest.files = new.files
        if rest != new { more.append("limits") }
    }

    /// Compares a limit; without one there is no limit.
    private mutating func compare<Value: Comparable>(
        _ name: String,
        _ old: Value?,
        _ new: Value?
    ) {
        guard old != new else { return }
        func text(_ value: Value?) -> String { value.map { "\($0)" } ?? "no limit" }
        let change = "\(name): \(text(old)) → \(text(new))"
        if let new, old.map({ new < $0 }) ?? true {
            less.append(change)
        } else {
            more.append(change)
        }
    }

    // MARK: Tasks and sessions

    private mutating func compareSessions(_ old: JSONNode, _ new: JSONNode) {
        for session in new.object ?? [] where old[session.key] != session.value {
            more.append("session \(session.key): \(session.value.text)")
        }
        for session in old.object ?? [] where new[session.key] == nil {
            less.append("session \(session.key)")
        }
    }

    private mutating func compareTask(_ identifier: String, _ old: JSONNode, _ new: JSONNode) {
        let keys = Set(((old.object ?? []) + (new.object ?? [])).map(\.key))
        // The limits of a run are compared by their values.
        for key in keys.sorted() where key != "limits" && old[key] != new[key] {
            let change =
                "task \(identifier), \(key): \(old[key]?.text ?? "none") → \(new[key]?.text ?? "none")"
            if key == "parameters" { other.append(change) } else { more.append(change) }
        }
    }
}
