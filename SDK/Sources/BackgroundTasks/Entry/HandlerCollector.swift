// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Collects the handlers that a plugin's code registers while the plugin is created.
package final class HandlerCollector: Sendable {
    @TaskLocal package static var current: HandlerCollector?

    /// The objects of the plugin.
    package let objects = AppObjects()
    private let registered = Mutex<[Handler]>([])

    package init() {}

    /// Creates a plugin's parts, and collects what they register.
    package func collect<Parts>(_ create: () throws -> Parts) rethrows -> Parts {
        try Self.$current.withValue(self, operation: create)
    }

    /// Adds a handler.
    ///
    /// It also adds a second one with the same name: a task could mean either, so the host must see
    /// both and reject the plugin.
    ///
    /// - Returns: `false` if there already was a handler with this name.
    func register(_ handler: Handler) -> Bool {
        registered.withLock { registered in
            let isNew = !registered.contains { $0.name == handler.name }
            registered.append(handler)
            return isNew
        }
    }

    /// What was registered, in order.
    package var handlers: [Handler] { registered.withLock { $0 } }
}

/// The handler names that the SDK defines.
package enum AppHandler {
    package static let session = "urlSession"
    package static let action = "notificationAction"
    package static let launch = "launch"
}
