// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import Synchronization

/// Requests of HTTP that the host carries out, within the plugin's network permissions.
///
/// Those of a session in the foreground belong to the run that makes them and end with it. What a
/// background session carries outlives run, worker and daemon: an `async` call whose run is asked to
/// stop throws, and its transfer goes on; the same request attaches to it. When the last of a session
/// has ended and nobody awaits it, the plugin is woken: a session of the same identifier tells its
/// delegate, and one without a delegate answers the same request with what has ended.
///
/// Use it from any thread.
public final class URLSession: NSObject, @unchecked Sendable {
    // @unchecked: what changes is under the lock, and the delegate, which need not be Sendable, is
    // called by one operation at a time.
    private struct State {
        var description: String?
        var lastTask = 0
        /// Transfers that runs await or have awaited, by the key of their request.
        var begun: [String: Begun] = [:]
        var delegate: Delegate?
        var isInvalid = false
    }

    /// A transfer that a run has awaited, and whose end it was not told.
    struct Begun {
        let id: String
        /// Gone with the run.
        weak var context: TaskContext?
    }

    private struct Delegate: @unchecked Sendable {
        // @unchecked: only handed on, to what calls it one at a time.
        let value: any URLSessionDelegate
    }

    private struct Maker {
        weak var context: TaskContext?
        let host: Host?
    }

    /// The session for requests in the foreground that need no settings.
    public static let shared = URLSession(configuration: .default)

    /// Where the delegate and completion handlers are called, one after the other.
    public let delegateQueue: OperationQueue
    /// For people.
    public var sessionDescription: String? {
        get { state.withLock { $0.description } }
        set { state.withLock { $0.description = newValue } }
    }
    let settings: SessionSettings
    private let original: URLSessionConfiguration
    private let maker: Maker
    private let state = Mutex(State())

    /// Makes a session without a delegate.
    public convenience init(configuration: URLSessionConfiguration) {
        self.init(configuration: configuration, delegate: nil, delegateQueue: nil)
    }

    /// Makes a session.
    ///
    /// In the wake of a background session of this identifier, the delegate is told at once of what
    /// has ended; the run is under way until it has been.
    ///
    /// - Parameters:
    ///   - delegate: kept until the session is invalidated.
    ///   - queue: `nil` makes one that does one thing at a time.
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
        maker = Maker(context: context, host: context?.host ?? Host.latest.withLock { $0 })
        super.init()
        let kept = delegate.map { Delegate(value: $0) }
        state.withLock { $0.delegate = kept }
        guard let identifier = settings.identifier, delegate != nil else { return }
        LiveSessions.add(self, identifier, of: maker.host)
        guard let context, let wake = context.wake(of: identifier) else { return }
        deliver(wake.claimAll(), in: context)
    }

    deinit {
        if let identifier = settings.identifier {
            LiveSessions.remove(self, identifier, of: maker.host)
        }
    }

    /// A copy of the configuration.
    public var configuration: URLSessionConfiguration { original.copy() }

    /// Who is told; `nil` after the session was invalidated.
    public var delegate: (any URLSessionDelegate)? { state.withLock { $0.delegate }?.value }

    var isInvalid: Bool { state.withLock { $0.isInvalid } }

    // MARK: Tasks

    /// A task whose answer goes to the delegate; `resume()` begins it.
    public func dataTask(with request: URLRequest) -> URLSessionDataTask {
        URLSessionDataTask(self, request, nil, nil)
    }

    /// A task whose answer goes to the delegate; `resume()` begins it.
    public func dataTask(with url: URL) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url))
    }

    /// A task that calls back; `resume()` begins it.
    public func dataTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        URLSessionDataTask(self, request, nil, .data(completionHandler))
    }

    /// A task that calls back; `resume()` begins it.
    public func dataTask(
        with url: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask {
        dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// A task whose file goes to the delegate; `resume()` begins it.
    public func downloadTask(with request: URLRequest) -> URLSessionDownloadTask {
        URLSessionDownloadTask(self, request, nil, nil)
    }

    /// A task whose file goes to the delegate; `resume()` begins it.
    public func downloadTask(with url: URL) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url))
    }

    /// A task that calls back with a file, which is there until the handler returns.
    public func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        URLSessionDownloadTask(self, request, nil, .file(completionHandler))
    }

    /// A task that calls back with a file, which is there until the handler returns.
    public func downloadTask(
        with url: URL,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDownloadTask {
        downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
    }

    /// A task that sends a file, by PUT if the request does not say how; `resume()` begins it.
    public func uploadTask(
        with request: URLRequest,
        fromFile file: URL
    ) -> URLSessionUploadTask {
        URLSessionUploadTask(self, request, file, nil)
    }

    /// A task that sends a file and calls back; `resume()` begins it.
    public func uploadTask(
        with request: URLRequest,
        fromFile file: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionUploadTask {
        URLSessionUploadTask(self, request, file, .data(completionHandler))
    }

    /// The tasks of a background session that are under way or not yet dealt with, whoever began them,
    /// with what they have carried so far.
    public var allTasks: [URLSessionTask] {
        get async { await tasksOfHost() }
    }

    /// Off the caller's actor, which the daemon's answer would hold up.
    @concurrent
    private func tasksOfHost() async -> [URLSessionTask] {
        guard let identifier = settings.identifier, let transfers = Transfers(host) else {
            return []
        }
        return transfers.list(identifier).map { URLSessionTask.of($0, in: self) }
    }

    func nextTaskIdentifier() -> Int {
        state.withLock { state in
            state.lastTask += 1
            return state.lastTask
        }
    }

    // MARK: The end

    /// Takes no more tasks; the delegate is told, and let go, once what waits for it has been told.
    public func finishTasksAndInvalidate() {
        state.withLock { $0.isInvalid = true }
        delegateQueue.addOperation { [self] in
            delegate?.urlSession(self, didBecomeInvalidWithError: nil)
            state.withLock { $0.delegate = nil }
            if let identifier = settings.identifier {
                LiveSessions.remove(self, identifier, of: maker.host)
            }
        }
    }

    /// The same, and ends the transfers of this session.
    public func invalidateAndCancel() {
        if let identifier = settings.identifier, let transfers = Transfers(host) {
            let live = transfers.list(identifier).filter { !$0.hasEnded }
            for transfer in live { transfers.cancel(transfer.id) }
        }
        finishTasksAndInvalidate()
    }

    // MARK: Runs and transfers

    /// The run that calls; else the one that made the session, as long as it is there.
    var context: TaskContext? { TaskContext.current ?? maker.context }

    /// Where transfers go, inside runs and outside.
    var host: Host? { context?.host ?? maker.host ?? Host.latest.withLock { $0 } }

    /// The transfer of the same request that a run which is asked to stop has let go of.
    ///
    /// It may have ended since then, and to ask the host for the same would be to ask a second time. The
    /// handler of a cancellation has no run.
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

    /// Tells the delegate of ended transfers, and that there are no more.
    func deliver(_ records: [TransferRecord], in context: TaskContext) {
        let sessions = context.sessions
        sessions.enter()
        TaskContext.$current.withValue(context) {
            delegateQueue.addOperation { [self] in
                for record in records { URLSessionTask.of(record, in: self).tell(record) }
                delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: self)
                sessions.leave()
            }
        }
    }
}
