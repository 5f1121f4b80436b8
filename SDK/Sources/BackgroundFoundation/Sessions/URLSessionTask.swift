// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
public import FoundationEssentials
internal import Synchronization

/// A request of a session; `resume()` starts it.
public class URLSessionTask: NSObject, @unchecked Sendable {
    // @unchecked: the lock protects all mutable state.
    /// The state of a task.
    public enum State: Int, Sendable {
        case running, suspended, canceling, completed
    }

    enum Completion: Sendable {
        case data(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
        case file(@Sendable (URL?, URLResponse?, (any Error)?) -> Void)
    }

    private struct Values {
        var state = URLSessionTask.State.suspended
        var description: String?
        var earliest: Date?
        var transfer: String?
        var work: Task<Void, Never>?
        var response: URLResponse?
        var error: (any Error)?
        var sent: Int64 = 0
        var received: Int64 = 0
        var expectedToSend: Int64 = -1
        var expectedToReceive: Int64 = -1
        var hints = Hints()
        var completion: Completion?
    }

    /// The caller's expectations about the task.
    private struct Hints {
        var priority = URLSessionTask.defaultPriority
        var bytesToSend = NSURLSessionTransferSizeUnknown
        var bytesToReceive = NSURLSessionTransferSizeUnknown
    }

    /// The default priority.
    public static let defaultPriority: Float = 0.5
    /// A low priority.
    public static let lowPriority: Float = 0
    /// A high priority.
    public static let highPriority: Float = 1

    /// The task's number in its session object; it differs in another run.
    public let taskIdentifier: Int
    /// The original request.
    public let originalRequest: URLRequest?
    let session: URLSession
    /// The file to upload; `nil` for a download.
    let file: URL?
    private let values: Mutex<Values>

    required init(
        _ session: URLSession,
        _ request: URLRequest,
        _ file: URL?,
        _ completion: Completion?,
        of transfer: String? = nil
    ) {
        self.session = session
        self.file = file
        taskIdentifier = session.taskIdentifier(of: transfer)
        originalRequest = request
        values = Mutex(Values(completion: completion))
        super.init()
        session.adopt(self)
    }

    /// The id of the background transfer; `nil` before it starts.
    var transfer: String? { values.withLock { $0.transfer } }
    /// Whether a completion handler gets the end, instead of the delegate.
    var hasCompletion: Bool { values.withLock { $0.completion != nil } }

    /// The current request, which is the original one.
    public var currentRequest: URLRequest? { originalRequest }
    /// The response; `nil` before it arrives.
    public var response: URLResponse? { values.withLock { $0.response } }
    /// Why the task failed; `nil` if it did not.
    public var error: (any Error)? { values.withLock { $0.error } }
    /// The state.
    public var state: State { values.withLock { $0.state } }
    /// A description, which the host stores with the transfer if it is set before `resume()`.
    public var taskDescription: String? {
        get { values.withLock { $0.description } }
        set { values.withLock { $0.description = newValue } }
    }
    /// The time before which a background transfer does not start; set it before `resume()`.
    public var earliestBeginDate: Date? {
        get { values.withLock { $0.earliest } }
        set { values.withLock { $0.earliest = newValue } }
    }
    /// From 0 to 1.
    ///
    /// It has no effect: requests start in the order of their `resume()`.
    public var priority: Float {
        get { values.withLock { $0.hints.priority } }
        set { values.withLock { $0.hints.priority = min(max(newValue, 0), 1) } }
    }
    /// The bytes that the caller expects to send; `progress` uses them while the host reports no
    /// total.
    public var countOfBytesClientExpectsToSend: Int64 {
        get { values.withLock { $0.hints.bytesToSend } }
        set { values.withLock { $0.hints.bytesToSend = newValue } }
    }
    /// The bytes that the caller expects to receive; `progress` uses them while the host reports no
    /// total.
    public var countOfBytesClientExpectsToReceive: Int64 {
        get { values.withLock { $0.hints.bytesToReceive } }
        set { values.withLock { $0.hints.bytesToReceive = newValue } }
    }
    /// The sent bytes of the body, known at the end.
    public var countOfBytesSent: Int64 { values.withLock { $0.sent } }
    /// The received bytes of the body, known at the end.
    public var countOfBytesReceived: Int64 { values.withLock { $0.received } }
    /// The length of the sent body, bytes; -1 while unknown.
    public var countOfBytesExpectedToSend: Int64 { values.withLock { $0.expectedToSend } }
    /// The length of the received body, bytes; -1 while unknown.
    public var countOfBytesExpectedToReceive: Int64 { values.withLock { $0.expectedToReceive } }
    /// The progress as far as it is known.
    public var progress: Progress {
        values.withLock { values in
            let known = max(values.expectedToReceive, values.expectedToSend)
            let hinted = max(values.hints.bytesToSend, 0) + max(values.hints.bytesToReceive, 0)
            let total = known < 0 && hinted > 0 ? hinted : known
            return Progress(completed: values.sent + values.received, total: total)
        }
    }

    /// No effect: the daemon continues the transfer.
    public func suspend() {}

    /// Starts the task.
    ///
    /// When this returns, the host has stored a background transfer.
    public func resume() {
        let isFirst = values.withLock { values in
            guard values.state == .suspended else { return false }
            values.state = .running
            return true
        }
        guard isFirst else { return }
        if session.isInvalid {
            complete(URLError(.cancelled, originalRequest?.url, "the session was invalidated"))
        } else if session.settings.identifier != nil {
            beginTransfer()
        } else {
            session.beginExchange()
            let work = Task.detached(executorPreference: session.context?.executor) {
                [self, context = session.context] in
                await TaskContext.$current.withValue(context) { await exchange() }
            }
            let isCancelled = values.withLock { values in
                values.work = work
                return values.state == .canceling
            }
            if isCancelled { work.cancel() }
        }
    }

    /// Cancels the task and its background transfer.
    ///
    /// It completes with `URLError.cancelled`, even if it was never resumed.
    public func cancel() {
        let (isFirst, isIdle, transfer, work) = values.withLock { values in
            let (before, transfer, work) = (values.state, values.transfer, values.work)
            guard before == .suspended || before == .running else {
                return (false, false, transfer, work)
            }
            values.state = .canceling
            return (true, before == .suspended, transfer, work)
        }
        guard isFirst else { return }
        if isIdle {
            return complete(
                URLError(.cancelled, originalRequest?.url, "cancelled before it was resumed")
            )
        }
        work?.cancel()
        if let transfer { Transfers(session.host)?.cancel(transfer) }
    }

    // MARK: Background sessions

    private func beginTransfer() {
        let context = session.context
        do {
            guard let request = originalRequest else { throw URLError(.badURL) }
            let start = try session.begin(
                request,
                file: file,
                label: taskDescription,
                earliest: earliestBeginDate,
                isData: self is URLSessionDataTask
            )
            switch start {
            case .ended(let record): soon(in: context) { $0.tell(record) }
            case .transfer(let id, _):
                let isCancelled = values.withLock { values in
                    values.transfer = id
                    return values.state == .canceling
                }
                session.note(taskIdentifier, of: id)
                listen(id, context)
                if isCancelled { Transfers(session.host)?.cancel(id) }
            }
        } catch {
            complete(error)
        }
    }

    /// Waits for the end of the transfer, if there is a completion handler or a delegate.
    private func listen(_ id: String, _ context: TaskContext?) {
        let isHeard = values.withLock { $0.completion != nil } || session.delegate != nil
        guard isHeard, let context, let transfers = Transfers(context.host) else { return }
        let awaited = AwaitedEnd(id, of: context.host)
        // The session becomes invalid after the end is told.
        session.beginExchange()
        let over: @Sendable (TransferRecord?) -> Void = { [session] record in
            awaited.isOver(record)
            session.endExchange()
        }
        let isAwaited = transfers.wait(id, of: context.run) { [self] record in
            // Without a record the transfer continues, and a wake reports its end. An end that
            // arrives as the run ends is still reported here, since no wake will report it.
            guard let record else { return over(nil) }
            soon(in: context) { task in
                task.tell(record)
                over(record)
            }
        }
        // If it cannot wait, a wake reports the end, as without a record.
        if !isAwaited { over(nil) }
    }

    private func soon(
        in context: TaskContext?,
        _ body: @escaping @Sendable (URLSessionTask) -> Void
    ) {
        let sessions = context?.sessions
        sessions?.enter()
        TaskContext.$current.withValue(context) {
            session.delegateQueue.addOperation { [self] in
                body(self)
                sessions?.leave()
            }
        }
    }

    // MARK: Ends

    /// Reports the end of a transfer, on the delegate queue.
    func tell(_ record: TransferRecord) {
        note(record)
        let error = record.error
        if record.upload {
            let body = Data((record.body ?? "").utf8)
            return tell(body, nil, record.response, record.isRefusal ? nil : error)
        }
        let file = error == nil ? record.path.map { URL(filePath: $0) } : nil
        let needsData = values.withLock { values in
            switch values.completion {
            case .data: true
            case .file: false
            case nil: self is URLSessionDataTask
            }
        }
        // There is a file only without an error.
        guard needsData, let file else { return tell(nil, file, record.response, error) }
        do {
            tell(try Data(contentsOf: file), file, record.response, nil)
        } catch {
            // Without an error, the handler would take no data for an empty body.
            tell(nil, nil, record.response, URLError(.cannotOpenFile))
        }
    }

    func note(_ record: TransferRecord) {
        values.withLock { values in
            let bytes = record.bytes ?? 0
            values.transfer = record.id
            if let label = record.label, !label.isEmpty, values.description == nil {
                values.description = label
            }
            values.response = record.response
            if record.hasEnded {
                values.state = .completed
            } else if values.state == .suspended {
                // Another run or session object has started it.
                values.state = .running
            }
            if record.upload {
                values.sent = bytes
                values.expectedToSend = record.total ?? -1
                values.received = Int64(record.body?.utf8.count ?? 0)
            } else {
                values.received = bytes
                values.expectedToReceive = record.total ?? -1
            }
        }
    }

    /// Calls the completion handler, or without one the delegate.
    func tell(_ data: Data?, _ file: URL?, _ response: URLResponse?, _ error: (any Error)?) {
        let completion = values.withLock { values in
            values.state = .completed
            values.response = response
            values.error = error
            defer { values.completion = nil }
            return values.completion
        }
        switch completion {
        case .data(let body): body(data, response, error)
        case .file(let body): body(file, response, error)
        case nil: tellDelegate(data, file, error)
        }
    }

    private func tellDelegate(_ data: Data?, _ file: URL?, _ error: (any Error)?) {
        guard let delegate = session.delegate else { return }
        if error == nil, let task = self as? URLSessionDownloadTask, let file {
            let downloads = delegate as? any URLSessionDownloadDelegate
            downloads?.urlSession(
                session,
                downloadTask: task,
                didWriteData: countOfBytesReceived,
                totalBytesWritten: countOfBytesReceived,
                totalBytesExpectedToWrite: countOfBytesExpectedToReceive
            )
            downloads?.urlSession(session, downloadTask: task, didFinishDownloadingTo: file)
        }
        if let task = self as? URLSessionDataTask, let data, !data.isEmpty {
            let receiver = delegate as? any URLSessionDataDelegate
            receiver?.urlSession(session, dataTask: task, didReceive: data)
        }
        let tasks = delegate as? any URLSessionTaskDelegate
        tasks?.urlSession(session, task: self, didCompleteWithError: error)
    }

    private func complete(_ error: any Error) {
        soon(in: session.context) { $0.tell(nil, nil, nil, error) }
    }

    // MARK: Foreground sessions

    private func exchange() async {
        do {
            guard let request = originalRequest else { throw URLError(.badURL) }
            let (data, response) = try await session.exchange(request, file: file)
            values.withLock { values in
                values.received = Int64(data.count)
                values.expectedToReceive = Int64(data.count)
            }
            guard self is URLSessionDownloadTask else {
                return endExchange { $0.tell(data, nil, response, nil) }
            }
            let file = try TemporaryFile(data)
            endExchange { task in
                task.tell(nil, file.url, response, nil)
                file.remove()
            }
        } catch {
            endExchange { $0.tell(nil, nil, nil, error) }
        }
    }

    private func endExchange(_ body: @escaping @Sendable (URLSessionTask) -> Void) {
        soon(in: session.context) { task in
            body(task)
            task.session.endExchange()
        }
    }
}

/// A task whose response is data.
public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// A task that uploads a file and whose response is data.
public final class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

/// A task whose response is a file.
public final class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}

/// An unknown number of bytes.
public let NSURLSessionTransferSizeUnknown: Int64 = -1
