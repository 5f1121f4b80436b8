// SPDX-License-Identifier: Apache-2.0

package import BghostFacts

/// One entry of `sessions`: a named set of background transfers of a plugin, and how the plugin is
/// notified of their end.
package struct SessionDefinition: Equatable, Sendable {
    package var name: String
    package var plugin: String
    package var handler: String
    /// Whether the handler gets a run when all transfers of the session have ended.
    package var sendsLaunchEvents: Bool
    /// Whether all its transfers wait for `discretionary`.
    package var isDiscretionary: Bool
    /// The maximum duration of a transfer, including all its attempts.
    package var resourceTimeout: Duration
    /// The maximum size of a transferred file, bytes.
    package var fileBytesMax: Int64
    /// The limits of one run of its handler.
    package var limits: RunLimits
    /// When a run that failed is tried again.
    var retry = RetryPolicy(kind: .urlSession)
    var origin: SourceLocation

    package init(
        name: String,
        plugin: String,
        handler: String? = nil,
        sendsLaunchEvents: Bool = true,
        isDiscretionary: Bool = false,
        resourceTimeout: Duration = .seconds(7 * 86_400),
        fileBytesMax: Int64 = 64 << 30,
        limits: RunLimits = RunLimits(kind: .urlSession),
        origin: SourceLocation = SourceLocation()
    ) {
        self.name = name
        self.plugin = plugin
        self.handler = handler ?? Self.taskPrefix + name
        self.sendsLaunchEvents = sendsLaunchEvents
        self.isDiscretionary = isDiscretionary
        self.resourceTimeout = resourceTimeout
        self.fileBytesMax = fileBytesMax
        self.limits = limits
        self.origin = origin
    }

    /// The prefix of the identifier of a session's task.
    package static let taskPrefix = "urlSession."

    /// The maximum length of a session's name, bytes, so that its task's identifier stays valid.
    package static let nameBytesMax = IdentifierPattern.bytesMax - taskPrefix.utf8.count

    /// The facts that the daemon watches if there are sessions: a transfer may wait for a good
    /// moment, and is retried when the network comes back.
    package static let watched = discretionary.union(.network)

    /// The requirements of a discretionary transfer.
    package static let discretionary: RequirementSet = [.externalPower, .unmetered, .idle]

    /// The identifier of the task that is notified.
    package var taskIdentifier: String { Self.taskPrefix + name }

    /// The task that is notified; `nil` if the session sends no launch events.
    package var task: TaskDefinition? {
        guard sendsLaunchEvents, let identifier = IdentifierPattern(taskIdentifier) else {
            return nil
        }
        var task = TaskDefinition(
            identifier: identifier,
            handler: .plugin(name: plugin, handler: handler),
            kind: .urlSession,
            limits: limits,
            origin: origin
        )
        task.retry = retry
        return task
    }
}
