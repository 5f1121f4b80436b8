// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

extension TextFormat {
    /// Checks an identifier that is submitted, so no family.
    static func exactFault(_ text: String) -> TextFault? {
        if let fault = TextFormat.identifierPattern.fault(in: text) { return fault }
        guard text.hasSuffix(".*") else { return nil }
        return TextFault(.badIdentifier, "it is a family", label: "name one identifier of it")
    }
}

extension ReferenceCheck {
    /// A task that another one names in `then`.
    private struct Link {
        let node: JSONNode
        /// The index of its definition among the tasks; `nil` if there is none.
        let next: Int?
    }

    /// Checks that each follower is a task, is named once, and does not come back to its task.
    func checkChains() {
        let names = TaskNames(tasks.map(\.name))
        var links = tasks.map { task in
            (task.node["then"]?.array ?? []).compactMap { element -> (JSONNode, String)? in
                let node = element["task"] ?? element
                guard let name = node.string, TextFormat.exactFault(name) == nil else { return nil }
                return (node, name)
            }
        }
        for index in links.indices where !links[index].isEmpty {
            checkCount(&links[index], of: tasks[index])
            for (node, name) in links[index] where names.definition(of: name) == nil {
                reportMissing(name, at: node, of: tasks[index])
            }
            for (node, name) in links[index] {
                guard let next = names.definition(of: name) else { continue }
                checkPlace(of: tasks[next], at: node, of: tasks[index])
            }
        }
        reportCycles(
            links.map { $0.map { Link(node: $0, next: names.definition(of: $1)) } }
        )
    }

    /// A follower is stored with the end of the run before it, so both have to be on one host.
    private func checkPlace(of next: ManifestEntry, at node: JSONNode, of task: ManifestEntry) {
        guard next.node["runs"]?.string == "inFleet" else { return }
        collector.report(
            .badInFleet,
            at: node.span,
            in: task.source,
            "`then` of task \(task.name.quoted) names \(next.name.quoted), whose requests live in the fleet",
            help: "let the handler of \(task.name.quoted) submit it"
        )
    }

    private func checkCount(_ links: inout [(JSONNode, String)], of task: ManifestEntry) {
        if links.count > TaskFollower.countMax {
            collector.report(
                .badChain,
                at: links[TaskFollower.countMax].0.span,
                in: task.source,
                "`then` of task \(task.name.quoted) names too many tasks: \(links.count)",
                label: "at most \(TaskFollower.countMax)",
                help: "let one of them name others"
            )
            links.removeLast(links.count - TaskFollower.countMax)
        }
        var seen: Set<String> = []
        for (node, name) in links where !seen.insert(name).inserted {
            collector.report(
                .badChain,
                at: node.span,
                in: task.source,
                "`then` of task \(task.name.quoted) names \(name.quoted) twice",
                help: "remove one of the two: a task has one pending request"
            )
        }
    }

    private func reportMissing(_ name: String, at node: JSONNode, of task: ManifestEntry) {
        let near = Spelling.nearest(to: name, among: tasks.map(\.name).sorted())
        collector.report(
            .notDefined,
            at: node.span,
            in: task.source,
            "`then` of task \(task.name.quoted) names \(name.quoted), which is no task",
            label: near.map { "did you mean \"\($0.escapedForMessage)\"?" },
            help: "define it in `tasks`, or a family that has it"
        )
    }

    /// Reports each link that leads back to a task before it.
    ///
    /// It walks with a list of its own: a chain may be longer than the stack.
    private func reportCycles(_ links: [[Link]]) {
        var isDone = [Bool](repeating: false, count: links.count)
        for start in links.indices where !isDone[start] && !links[start].isEmpty {
            var path = [(task: start, next: 0)]
            var places = [start: 0]
            while let (task, number) = path.last {
                guard number < links[task].count else {
                    isDone[task] = true
                    places[task] = nil
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let link = links[task][number]
                guard let next = link.next, !isDone[next] else { continue }
                if let place = places[next] {
                    reportCycle(path[place...].map(\.task), link)
                } else if !links[next].isEmpty {
                    places[next] = path.count
                    path.append((next, 0))
                }
            }
        }
    }

    /// - Parameter cycle: the tasks from the one to which the link leads on.
    private func reportCycle(_ cycle: [Int], _ link: Link) {
        guard let first = cycle.first, let last = cycle.last else { return }
        var names = cycle.prefix(Self.cycleNamesMax).map { tasks[$0].name.quoted }
        if cycle.count > names.count { names.append("…") }
        names.append(tasks[first].name.quoted)
        collector.report(
            .chainCycle,
            at: link.node.span,
            in: tasks[last].source,
            "task \(tasks[first].name.quoted) would follow its own success:"
                + " \(names.joined(separator: " → "))",
            help: "remove one of these from `then`; a task that repeats has `every` or `calendar`"
        )
    }

    /// The most tasks of a cycle that a message names.
    private static let cycleNamesMax = 8
}

/// Finds the definition of an identifier, as the daemon does: the exact task, or the family that has it.
private struct TaskNames {
    private var exact: [String: Int] = [:]
    /// By their patterns without the trailing `*`.
    private var families: [String: Int] = [:]

    init(_ names: [String]) {
        for (index, name) in names.enumerated() {
            if name.hasSuffix(".*") {
                families[String(name.dropLast())] = index
            } else {
                exact[name] = index
            }
        }
    }

    func definition(of identifier: String) -> Int? {
        if let index = exact[identifier] { return index }
        let dots = identifier.utf8.indices.filter { identifier.utf8[$0] == UInt8(ascii: ".") }
        return dots.reversed().lazy.compactMap { families[String(identifier[...$0])] }.first
    }
}
