// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks

extension BGTaskScheduler {
    /// Registers a launch handler, as the form for a queue of Dispatch.
    ///
    /// - Parameters:
    ///   - identifier: the handler's name: 1 to 128 characters of `A-Z a-z 0-9 . _ -`.
    ///   - queue: the queue that calls the handler; `nil` for the host's thread on which the run
    ///     starts.
    ///   - launchHandler: called for one run at a time.
    /// - Returns: `false` if the identifier is not a valid handler name, if the plugin is already
    ///   created, or if the identifier already has a launch handler.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String,
        using queue: DispatchQueue? = nil,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        guard let queue else { return register(identifier, through: nil, launchHandler) }
        return register(identifier, through: { queue.async(execute: $0) }, launchHandler)
    }
}
