// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
public import FoundationEssentials
internal import Synchronization

/// HTTP requests that the host sends, within the plugin's network permissions.
///
/// Requests of a foreground session belong to the run that makes them and end with it. Transfers of a
/// background session outlive run, worker and daemon: if the host cancels the run, an `async` call
/// throws and its transfer continues; the same request attaches to it. When the last transfer of a
/// session has ended and no run awaits it, the host starts a wake of the plugin. A session of the same
/// identifier then reports the ends to its delegate; a session without a delegate answers the same
/// request with the end. The host keeps an end that neither receives, as on iOS, until a run creates a
/// session of the identifier with a delegate, or until the next wake of the session.
///
/// Use it from any thread.
public final class URLSession: NSObject, @unchecked Sendable {
    // @unchecked: the lock protects all mutable state, and one operation at a time calls the
    // delegate, which need not be Sendable.
    private struct State {
        var description: String?
        var lastTask = 0
        /// The tasks that a caller still holds, by identifier.
        var tasks: [Int: Kept] = [:]
        var tasksMax = 64
        /// The identifiers of the tasks of background transfers, by transfer.
        var identifiers: [String: Int] = [:]
        /// Foreground requests and awaited transfers whose end was not reported yet.
        var exchanges = 0
        /// Transfers that runs await or have awaited, by the key of their request.
        var begun: [String: Begun] = [:]
        var delegate: Delegate?
        var isInvalid = false

        mutating func note(_ task: Int, of transfer: String) {
            // A plugin has at most 10,000 transfers, so most of these are over.
            if identifiers.count >= 10_000 { identifiers = [:] }
            identifiers[transfer] = task
        }
    }

    /// A transfer that a run has awaited, and whose end was not reported to it.
    struct Begun {
        let id: String
        /// `nil` once the run is over.
        weak var context: TaskContext?
    }

    struct Kept {
        weak var task: URLSessionTask?
    }

    private struct Delegate: @unchecked Sendable {
        // @unchecked: only passed on, to operations that call it one at a time.
        let value: any URLSessionDelegate
    }

    private struct Maker {
        weak var context: TaskContext?
        let host: Host?
    }

    /// The session for foreground requests with default settings.
    public static let shared = URLSession(configuration: .default)

    /// The queue that calls the delegate and completion handlers, one after the other.
    public let delegateQueue: OperationQueue
    /// A description, for debugging.
    public var sessionDescription: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }
    let settings: SessionSettings
    private let original: URLSessionConfiguration
    private let maker: Maker
    private let state = Mutex(State())

    /// Creates a session without a delegate.
    public convenience init(configuration: URLSessionConfiguration) {
        self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
    }

    /// Creates a session.
    ///
    /// In a run, the delegate of a background session receives the ends that the host keeps for this
    /// identifier at once, and new ends in the session's wake; the run waits for these calls. The delegate
    /// of a session that is created outside of runs receives the kept ends in the plugin's next run.
    ///
    /// - Parameters:
    ///   - configuration: the configuration, which is copied.
    ///   - delegate: the delegate, retained until the session is invalidated or released. The SDK retains a
    ///     background session with a delegate that is created outside of runs, until it is invalidated or
    ///     another one of its identifier is created. One that a run creates lives as long as the plugin
    ///     or a task retains it.
    ///   - queue: the queue for the delegate and completion handlers; `nil` creates a serial one.
    public init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue queue: OperationQueue?
    ) {
        original = configuration.copy()
        settings = SessionSettings(original)
        let serial = OperationQueue()
        serial.maxConcurrentOperationCount = 1
        delegateQueue = queue ?? serial
        let context = TaskContext.current
        maker = Maker(context: context, host: context?.host ?? Host.last)
        super.init()
        let kept = delegate.map { Delegate(value: $0) }
        state.withLock { $0.delegate = kept }
        guard let identifier = settings.identifier, delegate != nil else { return }
        LiveSessions.add(self, identifier, of: maker.host, isInRun: context != nil)
        if let context { deliver(in: context) }
    }

    deinit {
        if let identifier = settings.identifier {
            LiveSessions.remove(self, identifier, of: maker.host)
        }
    }

    /// A copy of the configuration.
    public var configuration: URLSessionConfiguration { original.copy() }

    /// The delegate; `nil` after the session was invalidated.
    public var delegate: (any URLSessionDelegate)? { state.withLock { $0.delegate }?.value }

    var isInvalid: Bool { state.withLock { $0.isInvalid } }

    // MARK: Tasks

    /// A task whose response goes to the delegate; `resume()` starts it.
    public func dataTask(with request: URLRequest) -> URLSessionDataTask {
        URLSessionDataTask(self, request, nil, nil)
    }

    /// A task whose response goes to the delegate; `resume()` starts it.
    public func dataTask(with url: URL) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url))
    }

    /// A task with a completion handler; `resume()` starts it.
    public func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        URLSessionDataTask(self, request, nil, .data(completionHandler))
    }

    /// A task with a completion handler; `resume()` starts it.
    public func dataTask(
        with url: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// A task whose file goes to the delegate; `resume()` starts it.
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        URLSessionDownloadTask(self, request, nil, nil)
    }

    /// A task whose file goes to the delegate; `resume()` starts it.
    public func downloadTask(with url: URL) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url))
    }

    /// A task whose completion handler gets a file, which exists until the handler returns.
    public func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        URLSessionDownloadTask(self, request, nil, .file(completionHandler))
    }

    /// A task whose completion handler gets a file, which exists until the handler returns.
    public func downloadTask(
        with url: URL,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// A task that uploads a file, by PUT unless the request sets another method; `resume()` starts
    /// it.
    public func uploadTask(
        with request: URLRequest,
        fromFile file: URL
    ) -> URLSessionUploadTask {
        URLSessionUploadTask(self, request, file, nil)
    }

    /// A task that uploads a file, with a completion handler; `resume()` starts it.
    public func uploadTask(
        with request: URLRequest,
        fromFile file: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        URLSessionUploadTask(self, request, file, .data(completionHandler))
    }

    /// Records a task, so that `invalidateAndCancel()` finds it.
    func adopt(_ task: URLSessionTask) {
        state.withLock { state in
            state.tasks[task.taskIdentifier] = Kept(task: task)
            guard state.tasks.count > state.tasksMax else { return }
            // This happens rarely enough to cost little, however many tasks there are.
            state.tasks = state.tasks.filter { $0.value.task != nil }
            state.tasksMax = max(64, state.tasks.count * 2)
        }
    }

    /// The tasks that a caller still holds, in the order in which they were created.
    var heldTasks: [URLSessionTask] {
        let tasks = state.withLock { $0.tasks.values.compactMap(\.task) }
        return tasks.sorted { $0.taskIdentifier < $1.taskIdentifier }
    }

    /// A new identifier of a task; for a transfer, the same at each call.
    func taskIdentifier(of transfer: String?) -> Int {
        state.withLock { state in
            if let known = transfer.flatMap({ state.identifiers[$0] }) { return known }
            state.lastTask += 1
            if let transfer { state.note(state.lastTask, of: transfer) }
            return state.lastTask
        }
    }

    /// Notes the task that has started a transfer; the first one counts.
    func note(_ task: Int, of transfer: String) {
        state.withLock { state in
            if state.identifiers[transfer] == nil { state.note(task, of: transfer) }
        }
    }

    // MARK: Invalidation

    /// Invalidates the session, so that it accepts no more tasks.
    ///
    /// Once all foreground requests, and the background transfers that the run awaits, have ended and
    /// their ends are reported, the delegate is told that the session is invalid, and is released.
    /// Transfers that go on when the run ends are reported to the next session of the identifier.
    public func finishTasksAndInvalidate() {
        let isIdle = state.withLock { state in
            guard !state.isInvalid else { return false }
            state.isInvalid = true
            return state.exchanges == 0
        }
        if isIdle { tellInvalid() }
    }

    func beginExchange() { state.withLock { $0.exchanges += 1 } }

    func endExchange() {
        let isLast = state.withLock { state in
            state.exchanges -= 1
            return state.isInvalid && state.exchanges == 0
        }
        if isLast { tellInvalid() }
    }

    private func tellInvalid() {
        delegateQueue.addOperation { [self] in
            delegate?.urlSession(self, didBecomeInvalidWithError: nil)
            state.withLock { $0.delegate = nil }
            if let identifier = settings.identifier {
                LiveSessions.remove(self, identifier, of: maker.host)
            }
        }
    }

    /// Invalidates the session, and cancels its tasks and transfers.
    public func invalidateAndCancel() {
        let tasks = state.withLock { state in
            defer { state.tasks = [:] }
            return state.tasks.values.compactMap(\.task)
        }
        for task in tasks { task.cancel() }
        if let identifier = settings.identifier, let transfers = Transfers(host) {
            let live = transfers.list(identifier).filter { !$0.hasEnded }
            for transfer in live { transfers.cancel(transfer.id) }
        }
        finishTasksAndInvalidate()
    }

    // MARK: Runs and transfers

    /// The calling run, otherwise the run that created the session, as long as it exists.
    var context: TaskContext? { TaskContext.current ?? maker.context }

    /// The host for transfers, inside and outside runs.
    var host: Host? { context?.host ?? maker.host ?? Host.last }

    /// The transfer of the same request that a cancelled run has detached from.
    ///
    /// It may have ended since then, and asking the host again would start it a second time. A
    /// cancellation handler has no current run.
    func detached(_ key: String) -> String? {
        guard let begun = state.withLock({ $0.begun[key] }), let context = begun.context,
            context.stopReason != nil
        else { return nil }
        let current = TaskContext.current
        return current == nil || current === context ? begun.id : nil
    }

    func note(_ begun: Begun?, for key: String) {
        state.withLock { state in
            state.begun = state.begun.filter { $0.value.context != nil }
            state.begun[key] = begun
        }
    }
}
