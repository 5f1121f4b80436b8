// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension BGTaskScheduler {
    /// Registers what carries out the runs of an identifier: a handler of that name.
    ///
    /// The host reads a plugin's handlers once, so this must be called while the plugin is made: in the
    /// `init` of an `App`, or in `application(_:didFinishLaunchingWithOptions:)`.
    ///
    /// - Parameters:
    ///   - queue: where the handler is called; `nil` is the thread of the host on which the run begins.
    ///   - launchHandler: called for one run at a time. The run is under way until
    ///     `setTaskCompleted(success:)`.
    /// - Returns: `false` if the identifier has a launch handler, is no name of a handler, or the
    ///   plugin has been made.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String,
        using queue: DispatchQueue? = nil,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        guard let collector = HandlerCollector.current, Handler.isName(identifier) else {
            return false
        }
        // Handlers are not Sendable in Apple's source. Runs of this one never overlap.
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
        // The kind of the task is not told to a run, and both casts are common.
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

/// Takes the handlers that a plugin's source registers while the plugin is made.
final class HandlerCollector: Sendable {
    @TaskLocal static var current: HandlerCollector?

    /// The one of the plugin: a test process may have several plugins.
    let center = UNUserNotificationCenter()
    private let registered = Mutex<[Handler]>([])

    /// - Returns: `false` if there is one of this name.
    func register(_ handler: Handler) -> Bool {
        registered.withLock { registered in
            guard !registered.contains(where: { $0.name == handler.name }) else { return false }
            registered.append(handler)
            return true
        }
    }

    var handlers: [Handler] { registered.withLock { $0 } }
}

extension Handler {
    /// Whether the host takes it as the name of a handler.
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
