// SPDX-License-Identifier: Apache-2.0

public import Dispatch

extension BGTaskScheduler {
    // Disfavored, as `BackgroundFoundation` has another for its own queue: `using: nil` would not know
    // which is meant.

    /// Registers a launch handler: a handler of the plugin with the identifier as its name.
    ///
    /// The host reads a plugin's handlers once, so call this while the plugin is created: in the
    /// `init` of an `App`, or in `application(_:didFinishLaunchingWithOptions:)`.
    ///
    /// - Parameters:
    ///   - identifier: the handler's name: 1 to 128 characters of `A-Z a-z 0-9 . _ -`.
    ///   - queue: the queue that calls the handler; `nil` for the host's thread on which the run
    ///     starts. `.main` needs a host that serves the main thread; with any other, it is as `nil`.
    ///   - launchHandler: called for one run at a time. The run is in progress until the handler's
    ///     task gets `setTaskCompleted(success:)`.
    /// - Returns: `false` if the identifier is not a valid handler name, if the plugin is already
    ///   created, which is logged as an error and terminates an app on iOS, or if the identifier already has a launch handler. The last case terminates an
    ///   app on iOS; here the host rejects the plugin, and names the identifier.
    @_disfavoredOverload
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String,
        using queue: DispatchQueue? = nil,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        guard let queue else { return register(identifier, through: nil, launchHandler) }
        return register(
            identifier,
            through: { launch in
                // Whether the host serves the main thread is known once the plugin is created.
                guard queue !== DispatchQueue.main || MainThread.isServed else { return launch() }
                // A queue of Dispatch does not know of tasks, and so not of the run.
                let context = TaskContext.current
                queue.async { TaskContext.$current.withValue(context) { launch() } }
            },
            launchHandler
        )
    }

    /// Registers a launch handler, with what calls it; `nil` to call it at once.
    package func register(
        _ identifier: String,
        through queue: (@Sendable (@escaping @Sendable () -> Void) -> Void)?,
        _ launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        guard let collector = HandlerCollector.current else {
            // Most source ignores the answer, and an app on iOS ends here.
            Logger().error(
                "register(forTaskWithIdentifier: \"\(identifier)\") came after the plugin was made, and has no"
                    + " effect: call it in init of the App or in didFinishLaunchingWithOptions"
            )
            return false
        }
        guard Handler.isName(identifier) else { return false }
        // Launch handlers are not Sendable in source for Apple's platforms. Runs of this handler
        // never overlap.
        nonisolated(unsafe) let launchHandler = launchHandler
        return collector.register(
            Handler(identifier, options: .serial) { context in
                try await LaunchRun(context, queue) { launchHandler($0) }.execute()
            }
        )
    }
}

/// A run of a launch handler.
private struct LaunchRun {
    let context: TaskContext
    let queue: (@Sendable (@escaping @Sendable () -> Void) -> Void)?
    let handler: @Sendable (BGTask) -> Void

    init(
        _ context: TaskContext,
        _ queue: (@Sendable (@escaping @Sendable () -> Void) -> Void)?,
        _ handler: @escaping @Sendable (BGTask) -> Void
    ) {
        self.context = context
        self.queue = queue
        self.handler = handler
    }

    func execute() async throws {
        // A run does not know its task's kind, and source for Apple's platforms casts to any of the
        // types.
        let task = BGAppRefreshTask(context)
        let isSuccess = await withTaskCancellationHandler {
            if let queue {
                queue { launch(task) }
            } else {
                launch(task)
            }
            return await task.completion
        } onCancel: {
            task.expire()
        }
        guard !isSuccess else { return }
        if context.stopReason != nil { throw CancellationError() }
        throw task.failure
    }

    private func launch(_ task: BGTask) {
        context.setLaunching(true)
        handler(task)
        context.setLaunching(false)
    }
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
