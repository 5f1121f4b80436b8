// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Checks the references between the definitions of all files.
struct ReferenceCheck {
    let plugins: [ManifestEntry]
    let functions: [ManifestEntry]
    let signers: [ManifestEntry]
    let tasks: [ManifestEntry]
    let sessions: [ManifestEntry]
    let collector: DiagnosticCollector

    func check() {
        let pluginNames = Set(plugins.map(\.name))
        let functionNames = Set(functions.map(\.name))
        checkCollisions()
        checkFamilies()
        for task in tasks {
            guard let fields = task.node.object else { continue }
            checkHandler(of: task, fields)
            checkReference("plugin", of: task, fields, in: pluginNames, other: functionNames)
            checkReference("function", of: task, fields, in: functionNames, other: pluginNames)
        }
        let signerNames = signers.map(\.name)
        for plugin in plugins { checkSigner(of: plugin, among: signerNames) }
        for session in sessions {
            guard let fields = session.node.object else { continue }
            checkReference(
                "plugin",
                of: session,
                fields,
                in: pluginNames,
                other: functionNames,
                noun: "session"
            )
        }
        checkSessionTasks()
        checkChains()
    }

    private func checkSigner(of plugin: ManifestEntry, among signers: [String]) {
        guard let node = plugin.node["signedBy"], let name = node.string,
            TextFormat.pluginName.fault(in: name) == nil, !signers.contains(name)
        else { return }
        collector.report(
            .notDefined,
            at: node.span,
            in: plugin.source,
            "plugin \(plugin.name.quoted) is to be signed by \(name.quoted), who is not defined",
            label: Spelling.nearest(to: name, among: signers.sorted())
                .map { "did you mean \"\($0.escapedForMessage)\"?" },
            help: "define the key in `signers`"
        )
    }

    /// Checks that no other definition names the task of a session.
    private func checkSessionTasks() {
        let named = Dictionary(tasks.map { ($0.name, $0) }) { first, _ in first }
        for session in sessions {
            let name = SessionDefinition.taskPrefix + session.name
            guard let task = named[name] else { continue }
            collector.report(
                .nameCollision,
                at: task.keySpan,
                in: task.source,
                "the session \(session.name.quoted) has a task \(name.quoted) of its own",
                help: "remove the task, and set the session's `handler` and `limits` instead",
                notes: [Diagnostic.Note("the session is defined here", at: session.place)]
            )
        }
    }

    private func checkCollisions() {
        let named = Dictionary(plugins.map { ($0.name, $0) }) { first, _ in first }
        for function in functions {
            guard let plugin = named[function.name] else { continue }
            // Report the later of the two, which is the one to change.
            let isLater =
                (function.source.index, function.keySpan.start)
                > (plugin.source.index, plugin.keySpan.start)
            let (entry, other) = isLater ? (function, plugin) : (plugin, function)
            collector.report(
                .nameCollision,
                at: entry.keySpan,
                in: entry.source,
                "a plugin and a function are both named \(function.name.quoted)",
                help: "rename one of the two",
                notes: [Diagnostic.Note("the other is defined here", at: other.place)]
            )
        }
    }

    private func checkFamilies() {
        var families: [[UInt8]: ManifestEntry] = [:]
        for task in tasks where IdentifierPattern(task.name)?.isFamily == true {
            families[Array(task.name.utf8.dropLast())] = task
        }
        for task in tasks where IdentifierPattern(task.name)?.isFamily == true {
            let stem = Array(task.name.utf8.dropLast())
            // The stem of every family that includes this one ends at one of its earlier dots.
            for end in stem.indices.dropLast() where stem[end] == UInt8(ascii: ".") {
                guard let wider = families[Array(stem[...end])] else { continue }
                collector.report(
                    .overlappingFamilies,
                    at: task.keySpan,
                    in: task.source,
                    "the family \(task.name.quoted) lies within \(wider.name.quoted)",
                    help: "name the exact identifiers of one of them",
                    notes: [Diagnostic.Note("the wider family is here", at: wider.place)]
                )
            }
        }
    }

    private func checkHandler(of task: ManifestEntry, _ fields: [JSONMember]) {
        let plugin = fields.first { $0.key == "plugin" }
        let function = fields.first { $0.key == "function" }
        let handler = fields.first { $0.key == "handler" }
        if plugin == nil, function == nil {
            collector.report(
                .pluginOrFunction,
                at: task.keySpan,
                in: task.source,
                "task \(task.name.quoted) names neither a plugin nor a function",
                help: "add `\"plugin\": NAME` or `\"function\": NAME`"
            )
        }
        if plugin != nil, let function {
            collector.report(
                .pluginOrFunction,
                at: function.keySpan,
                in: task.source,
                "task \(task.name.quoted) names a plugin and a function",
                help: "remove one of the two"
            )
        } else if function != nil, let handler {
            collector.report(
                .pluginOrFunction,
                at: handler.keySpan,
                in: task.source,
                "task \(task.name.quoted) names a handler, but calls a function",
                help: "remove `handler`: a function has none"
            )
        }
    }

    private func checkReference(
        _ key: String,
        of task: ManifestEntry,
        _ fields: [JSONMember],
        in defined: Set<String>,
        other: Set<String>,
        noun: String = "task"
    ) {
        guard let node = fields.first(where: { $0.key == key })?.value, let name = node.string,
            TextFormat.pluginName.fault(in: name) == nil, !defined.contains(name)
        else { return }
        collector.report(
            .notDefined,
            at: node.span,
            in: task.source,
            "\(noun) \(task.name.quoted) names the \(key) \(name.quoted), which is not defined",
            label: Self.suggestion(for: name, key, defined, noun == "task" ? other : []),
            help: defined.isEmpty
                ? "define it in `\(key)s`"
                : "defined are " + defined.sorted().prefix(8).map(\.quoted).joined(separator: ", ")
                    + (defined.count > 8 ? " and others" : "")
        )
    }

    private static func suggestion(
        for name: String,
        _ key: String,
        _ defined: Set<String>,
        _ other: Set<String>
    ) -> String? {
        let otherKey = key == "plugin" ? "function" : "plugin"
        if other.contains(name) { return "this is a \(otherKey): write \"\(otherKey)\"" }
        return Spelling.nearest(to: name, among: defined.sorted())
            .map { "did you mean \"\($0.escapedForMessage)\"?" }
    }
}
