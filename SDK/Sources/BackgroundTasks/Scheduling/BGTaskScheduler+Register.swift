// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension BGTaskScheduler {
    /// Registers a launch handler: a handler of the plugin with the identifier as its name.
    ///
    /// The host reads a plugin's handlers once, so call this while the plugin is created: in the
    /// `init` of an `App`, or in `application(_:didFinishLaunchingWithOptions:)`.
    ///
    /// - Parameters:
    ///   - identifier: the handler's name: 1 to 128 characters of `A-Z a-z 0-9 . _ -`.
    ///   - queue: the queue that calls the handler; `nil` for the host's thread on which the run
    ///     starts.
    ///   - launchHandler: called for one run at a time. The run is in progress until the handler's
    ///     task gets `setTaskCompleted(success:)`.
    /// - Returns: `false` if the identifier is not a valid handler name, if the plugin is already
    ///   created, or if the identifier already has a launch handler. The last case terminates an
    ///   app on iOS; here the host rejects the plugin, and names the identifier.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String,
        using queue: DispatchQueue? = nil,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        guard let collector = HandlerCollector.current, Handler.isName(identifier) else {
            return false
        }
        // Launch handlers are not Sendable in source for Apple's platforms. Runs of this handler
        // never overlap.
        nonisolated(unsafe) let launchHandler = launchHandler
        return collector.register(
            Handler(identifier, options: .serial) { context in
                try await LaunchRun(context, queue) { launchHandler($0) }.carryOut()
            }
        )
    }
}

/// A run of a launch handler.
private struct LaunchRun {
    let context: TaskContext
    let queue: DispatchQueue?
    let handler: @Sendable (BGTask) -> Void

    init(
        _ context: TaskContext,
        _ queue: DispatchQueue?,
        _ handler: @escaping @Sendable (BGTask) -> Void
    ) {
        self.context = context
        self.queue = queue
        self.handler = handler
    }

    func carryOut() async throws {
        // A run does not know its task's kind, and source for Apple's platforms casts to either
        // type.
        let task = BGAppRefreshTask(identifier: context.taskIdentifier)
        let isSuccess = await withTaskCancellationHandler {
            if let queue {
                queue.async { launch(task) }
            } else {
                launch(task)
            }
            return await task.completion
        } onCancel: {
            task.expire()
        }
        guard !isSuccess else { return }
        if context.stopReason != nil { throw CancellationError() }
        throw TaskUnsuccessful()
    }

    private func launch(_ task: BGTask) {
        context.setLaunching(true)
        handler(task)
        context.setLaunching(false)
    }
}

/// Collects the handlers that a plugin's code registers while the plugin is created.
final class HandlerCollector: Sendable {
    @TaskLocal static var current: HandlerCollector?

    /// The notification center of the plugin: a test process may have several plugins.
    let center = UNUserNotificationCenter()
    private let registered = Mutex<[Handler]>([])
    private let launches = Mutex<[@Sendable () -> [SceneParts.Part]]>([])

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

    /// Adds a delegate, whose launch method is called after the app is created.
    func adopt<Delegate: UIApplicationDelegate>(_ delegate: Delegate) {
        // Delegates are not Sendable in source for Apple's platforms. The handlers that call it are
        // serial, as launch handlers are; the plugin protects state that they share, as on iOS.
        nonisolated(unsafe) let delegate = delegate
        launches.withLock { launches in
            launches.append {
                _ = delegate.application(.shared, didFinishLaunchingWithOptions: nil)
                return delegate.parts
            }
        }
    }

    /// Calls the launch methods of the delegates.
    ///
    /// - Returns: the parts that call the delegates in runs.
    func launchDelegates() -> [SceneParts.Part] {
        let launches = launches.withLock { launches in
            defer { launches = [] }
            return launches
        }
        return launches.flatMap { $0() }
    }

    var handlers: [Handler] { registered.withLock { $0 } }
}

extension Handler {
    /// Whether the host accepts a name for a handler.
    static func isName(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
