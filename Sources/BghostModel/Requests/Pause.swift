// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// What a pause is for.
package enum PauseTarget: Hashable, Codable, Sendable {
    /// All tasks.
    case all
    /// The tasks of a plugin or function.
    case plugin(String)
    /// A task, or with a pattern such as `org.example.*` all tasks whose identifiers match it.
    case tasks(String)

    /// The kind in the store and in the API: stable words.
    package enum Scope: String, Codable, Equatable, Sendable, CaseIterable {
        case all, plugin, tasks
    }

    package var scope: Scope {
        switch self {
        case .all: .all
        case .plugin: .plugin
        case .tasks: .tasks
        }
    }

    /// The plugin, identifier or pattern; "" for all tasks.
    package var name: String {
        switch self {
        case .all: ""
        case .plugin(let name), .tasks(let name): name
        }
    }

    package init(_ scope: Scope, name: String) {
        switch scope {
        case .all: self = .all
        case .plugin: self = .plugin(name)
        case .tasks: self = .tasks(name)
        }
    }

    /// The part of a pattern before `*`, with its last dot; `nil` for anything else.
    package var stem: Substring? {
        guard case .tasks(let name) = self, name.hasSuffix(".*") else { return nil }
        return name.dropLast()
    }

    /// The target as the subject of a sentence.
    package var subject: String {
        switch self {
        case .all: "everything"
        case .plugin(let name): "plugin \(PrintableText.escaped(name))"
        case .tasks(let name): PrintableText.escaped(name)
        }
    }

    /// The command that ends its pause.
    package var resumeCommand: String {
        switch self {
        case .all: "bghost resume --all"
        case .plugin(let name): "bghost resume --plugin \(PrintableText.escaped(name))"
        case .tasks(let name):
            // A shell would expand the star of a pattern.
            stem == nil
                ? "bghost resume \(PrintableText.escaped(name))"
                : "bghost resume '\(PrintableText.escaped(name))'"
        }
    }
}

/// An operator's order to start nothing of some tasks.
package struct Pause: Equatable, Codable, Sendable {
    package var target: PauseTarget
    /// Unix nanoseconds.
    package var since: Int64
    /// When it ends by itself, Unix nanoseconds; `nil` if only an operator ends it.
    package var until: Int64?
    /// Whether `until` counts from the command, as in `--for 2h`, so that it moves when the clock is set.
    package var isRelative: Bool
    /// Who asked for it, such as `root`.
    package var user: String
    /// Why; "" without a reason.
    package var reason: String

    /// The most pauses at the same time.
    package static let countMax = 1000

    package init(
        target: PauseTarget,
        since: Int64,
        until: Int64? = nil,
        isRelative: Bool = false,
        user: String,
        reason: String = ""
    ) {
        self.target = target
        self.since = since
        self.until = until
        self.isRelative = isRelative
        self.user = user
        self.reason = reason
    }

    /// Who paused what and why, as the rest of a sentence: `by root (plugin photos): new disk`.
    package func clause(of task: String) -> String {
        "by \(PrintableText.escaped(user))"
            + (target == .tasks(task) ? "" : " (\(target.subject))")
            + (reason.isEmpty ? "" : ": \(PrintableText.escaped(reason))")
    }
}

extension PauseTarget {
    /// Whether it is for a task of a plugin.
    package func covers(_ task: String, plugin: String) -> Bool {
        switch self {
        case .all: true
        case .plugin(let name): name == plugin
        case .tasks(let name): name == task || stem.map { task.hasPrefix($0) } ?? false
        }
    }
}
