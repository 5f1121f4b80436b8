// SPDX-License-Identifier: Apache-2.0

internal import BghostCalendar
package import BghostModel

/// The complete text of a value, which is the same in every process.
///
/// The order of a set or a dictionary differs between processes, so elements are sorted by their texts.
struct CanonicalText {
    /// The names that recordings have for types, properties and cases that were renamed since.
    ///
    /// Fingerprints of decisions depend on names, so that without this table `bghost replay` would find
    /// differences in every recording of an older version.
    private static let recordedNames = [
        "MissedStarts": "MissedSlots",
        "Request.chosenStart": "aim",
        "Request.isManual": "isSimulated",
        "Request.scheduledTime": "slot",
        "RunHandle": "RunTicket",
        "RunStart.handle": "ticket",
        "RunStart.isManual": "isSimulated",
        "SchedulerEffect.log": "note",
        "SchedulerEffect.requestClosed": "ended",
        "SchedulerEffect.startRun": "begin",
        "SchedulerNote.closed": "ended",
        "ServedTimes": "ServedSlots",
        "StoreChange.runEnded": "ended",
        "StoreChange.runStarted": "began",
        "StoreChange.runtimeConsumed": "used",
        "TaskMemory.lastServedTime": "lastSlot",
    ]

    /// Properties that follow from others, or decide nothing, and came later: recordings of older versions
    /// lack them.
    private static let unrecorded: Set<String> = [
        "RunStart.due", "RunStart.firstDue", "RunRecord.trace", "RunRecord.submitterRun",
        "Request.trace", "Submission.trace",
        "HostSettings.traces", "Manifest.written", "HostSettings.dashboard", "HostSettings.history",
        "HostSettings.audit", "HostSettings.log", "HostSettings.alerts", "HostSettings.heartbeat",
        "HostSettings.onChange",
        "TaskDefinition.history", "TaskDefinition.expect", "TaskDefinition.parametersSchema",
        "TaskDefinition.tags", "HostSettings.fleet",
    ]

    /// Properties that came later and decide something: left out while they are `false`, zero or empty.
    private static let recordedIfSet: Set<String> = [
        "TaskDefinition.isOnceInFleet", "TaskDefinition.then", "TaskSchedule.randomDelay",
        "Request.appended", "TaskDefinition.isInFleet", "AttemptCounters.lostHosts",
    ]

    private static func isUnset(_ value: Any) -> Bool {
        switch value {
        case let flag as Bool: return !flag
        case let followers as [TaskFollower]: return followers.isEmpty
        case let duration as Duration: return duration == .zero
        default:
            let mirror = Mirror(reflecting: value)
            return mirror.displayStyle == .optional && mirror.children.isEmpty
        }
    }

    private(set) var text = ""

    init(_ value: Any) { write(value) }

    private mutating func write(_ value: Any) {
        if let string = value as? String {
            text += string.debugDescription
            return
        }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .set, .dictionary:
            let elements = mirror.children.map { CanonicalText($0.value).text }.sorted()
            text += "{" + elements.joined(separator: ", ") + "}"
        case .collection: write(mirror.children, between: "[", "]")
        case .optional:
            if let some = mirror.children.first { write(some.value) } else { text += "nil" }
        case .tuple: write(mirror.children, between: "(", ")")
        case .enum: writeCase(value, mirror)
        default:
            if let described = value as? any CustomStringConvertible {
                text += described.description
            } else {
                let type = "\(type(of: value))"
                text += Self.recordedNames[type] ?? type
                write(mirror.children, of: type, between: "(", ")")
            }
        }
    }

    /// Writes the case of an enumeration with its values.
    private mutating func writeCase(_ value: Any, _ mirror: Mirror) {
        guard let child = mirror.children.first, let name = child.label else {
            text += "\(value)"
            return
        }
        text += (Self.recordedNames["\(type(of: value)).\(name)"] ?? name) + "("
        write(child.value)
        text += ")"
    }

    /// - Parameter type: the type whose properties these are; "" for others.
    private mutating func write(
        _ children: Mirror.Children,
        of type: String = "",
        between open: String,
        _ close: String
    ) {
        text += open
        var isFirst = true
        for child in children where !Self.unrecorded.contains("\(type).\(child.label ?? "")") {
            if let change = child.value as? StoreChange, change.isUnrecorded { continue }
            let cameLater = Self.recordedIfSet.contains("\(type).\(child.label ?? "")")
            if cameLater, Self.isUnset(child.value) { continue }
            if !isFirst { text += ", " }
            isFirst = false
            if let label = child.label {
                text += (Self.recordedNames["\(type).\(label)"] ?? label) + ": "
            }
            write(child.value)
        }
        text += close
    }
}

extension Manifest {
    /// Identifies a manifest across processes, independently of its path and the order of its
    /// sections.
    package var fingerprint: String {
        var manifest = self
        for index in plugins.indices { manifest.plugins[index].origin = SourceLocation() }
        for index in functions.indices { manifest.functions[index].origin = SourceLocation() }
        for index in tasks.indices { manifest.tasks[index].origin = SourceLocation() }
        return String(sipHash13(Array(CanonicalText(manifest).text.utf8)), radix: 16)
    }
}

extension SchedulerEffect {
    /// A line that is equal for equal decisions in every process; for comparison, not for reading.
    package var fingerprint: String {
        let all = CanonicalText(self).text
        let name = all.prefix { $0 != "(" }
        return "\(name) \(String(sipHash13(Array(all.utf8)), radix: 16))"
    }
}
