// SPDX-License-Identifier: Apache-2.0

/// One entry of `sessions`: the name of background transfers of a plugin, and who is told of their
/// end.
package struct SessionDefinition: Equatable, Sendable {
    package var name: String
    package var plugin: String
    package var handler: String
    /// Whether the handler gets a run when all transfers of the session have ended.
    package var sendsLaunchEvents: Bool
    /// Whether all its transfers wait for a good moment.
    package var isDiscretionary: Bool
    /// The longest that a transfer may take with all its attempts.
    package var resourceTimeout: Duration
    /// The largest file of a transfer.
    package var fileBytesMax: Int64
    /// How long one run of its handler may take.
    package var limits: RunLimits
    package var origin: SourceLocation

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

    /// What the identifier of a session's task begins with.
    package static let taskPrefix = "urlSession."

    /// Its task's identifier must be one.
    static let nameBytesMax = IdentifierPattern.bytesMax - taskPrefix.utf8.count

    /// What is watched of the machine where there are sessions: a transfer may ask for a good moment,
    /// and is tried again when the network comes back.
    static let watched = goodMoment.union(.network)

    /// What a discretionary transfer waits for.
    package static let goodMoment: RequirementSet = [.externalPower, .unmetered, .idle]

    /// The identifier of the task whose runs are told.
    package var taskIdentifier: String { Self.taskPrefix + name }

    /// The task whose runs are told; `nil` if nobody is.
    var task: TaskDefinition? {
        guard sendsLaunchEvents, let identifier = IdentifierPattern(taskIdentifier) else {
            return nil
        }
        return TaskDefinition(
            identifier: identifier,
            handler: .plugin(name: plugin, handler: handler),
            kind: .urlSession,
            limits: limits,
            origin: origin
        )
    }
}
