// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import Synchronization

/// A request of a session; `resume()` begins it.
public class URLSessionTask: NSObject, @unchecked Sendable {
    // @unchecked: what changes is under the lock.
    /// How far a task is.
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
        var completion: Completion?
    }

    /// A number of the task in its session object; another one in another run.
    public let taskIdentifier: Int
    /// What was asked for.
    public let originalRequest: URLRequest?
    let session: URLSession
    /// What is sent; `nil` for a download.
    let file: URL?
    private let values: Mutex<Values>

    required init(
        _ session: URLSession,
        _ request: URLRequest,
        _ file: URL?,
        _ completion: Completion?
    ) {
        self.session = session
        self.file = file
        taskIdentifier = session.nextTaskIdentifier()
        originalRequest = request
        values = Mutex(Values(completion: completion))
    }

    /// What is asked for.
    public var currentRequest: URLRequest? { originalRequest }
    /// What came back; `nil` before.
    public var response: URLResponse? { values.withLock { $0.response } }
    /// Why it failed.
    public var error: (any Error)? { values.withLock { $0.error } }
    /// How far it is.
    public var state: State { values.withLock { $0.state } }
    /// For people; set it before `resume()`, and it is kept with the transfer.
    public var taskDescription: String? {
        get { values.withLock { $0.description } }
        set { values.withLock { $0.description = newValue } }
    }
    /// A background transfer does not begin before this; set it before `resume()`.
    public var earliestBeginDate: Date? {
        get { values.withLock { $0.earliest } }
        set { values.withLock { $0.earliest = newValue } }
    }
    /// Bytes of the body that were sent, known at the end.
    public var countOfBytesSent: Int64 { values.withLock { $0.sent } }
    /// Bytes of the body that came, known at the end.
    public var countOfBytesReceived: Int64 { values.withLock { $0.received } }
    /// Bytes of the body that is sent; -1 while unknown.
    public var countOfBytesExpectedToSend: Int64 { values.withLock { $0.expectedToSend } }
    /// Bytes of the body that comes; -1 while unknown.
    public var countOfBytesExpectedToReceive: Int64 { values.withLock { $0.expectedToReceive } }
    /// How far it is, from what is known.
    public var progress: Progress {
        values.withLock { values in
            let total = max(values.expectedToReceive, values.expectedToSend)
            return Progress(completed: values.sent + values.received, total: total)
        }
    }

    /// Has no effect: the daemon carries on.
    public func suspend() {}

    /// Begins it; once this returns, a background transfer is stored for good.
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
            let work = Task.detached(executorPreference: session.context?.executor) {
                [self, context = session.context] in
                await TaskContext.$current.withValue(context) { await exchange() }
            }
            values.withLock { $0.work = work }
        }
    }

    /// Ends it: a background transfer too.
    public func cancel() {
        let (transfer, work) = values.withLock { values in
            if values.state != .completed { values.state = .canceling }
            return (values.transfer, values.work)
        }
        work?.cancel()
        if let transfer { Transfers(session.host)?.cancel(transfer) }
    }

    // MARK: In the background

    private func beginTransfer() {
        let context = session.context
        do {
            guard let request = originalRequest else { throw URLError(.badURL) }
            let start = try session.begin(
                request,
                file: file,
                label: taskDescription,
                earliest: earliestBeginDate
            )
            switch start {
            case .ended(let record): soon(in: context) { $0.tell(record) }
            case .transfer(let id, _):
                values.withLock { $0.transfer = id }
                listen(id, context)
            }
        } catch {
            complete(error)
        }
    }

    /// Waits for the end, if there is somebody to be told.
    private func listen(_ id: String, _ context: TaskContext?) {
        let isHeard = values.withLock { $0.completion != nil } || session.delegate != nil
        guard isHeard, let context, let transfers = Transfers(context.host) else { return }
        _ = transfers.wait(id, of: context.run) { [self] record in
            // Without a record the transfer goes on, and its end is told in a wake. One that comes as
            // the run ends is told all the same: nobody else is told of it any more.
            guard let record else { return }
            soon(in: context) { $0.tell(record) }
        }
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

    /// Tells of the end of a transfer, on the delegate queue.
    func tell(_ record: TransferRecord) {
        note(record)
        let error = record.error
        if record.upload {
            let body = Data((record.body ?? "").utf8)
            return tell(body, nil, record.response, record.isRefusal ? nil : error)
        }
        let file = error == nil ? record.path.map { URL(filePath: $0) } : nil
        let needsData = values.withLock { values in
            if case .data = values.completion { true } else { false }
        }
        let data = needsData ? file.flatMap { try? Data(contentsOf: $0) } : nil
        tell(data, file, record.response, error)
    }

    func note(_ record: TransferRecord) {
        values.withLock { values in
            let bytes = record.bytes ?? 0
            values.transfer = record.id
            if let label = record.label, !label.isEmpty, values.description == nil {
                values.description = label
            }
            values.response = record.response
            if record.hasEnded { values.state = .completed }
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

    /// Tells a completion handler, or else the delegate.
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

    // MARK: In the foreground

    private func exchange() async {
        guard let request = originalRequest else { return }
        do {
            let (data, response) = try await session.exchange(request, file: file)
            values.withLock { values in
                values.received = Int64(data.count)
                values.expectedToReceive = Int64(data.count)
            }
            guard self is URLSessionDownloadTask else {
                return soon(in: .current) { $0.tell(data, nil, response, nil) }
            }
            let file = try TemporaryFile(data)
            soon(in: .current) { task in
                task.tell(nil, file.url, response, nil)
                file.remove()
            }
        } catch {
            complete(error)
        }
    }
}

/// A task whose answer is data.
public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// A task that sends a file, and whose answer is data.
public final class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

/// A task whose answer is a file.
public final class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}

extension URLSessionTask {
    /// The task of a transfer that another run, or another session object, has begun.
    static func of(_ record: TransferRecord, in session: URLSession) -> URLSessionTask {
        let url = URL(string: record.url) ?? URL(filePath: "/")
        let request = URLRequest(url: url)
        let task: URLSessionTask =
            record.upload
            ? URLSessionUploadTask(
                session,
                request,
                record.path.map { URL(filePath: $0) },
                nil
            )
            : URLSessionDownloadTask(session, request, nil, nil)
        task.note(record)
        return task
    }
}
