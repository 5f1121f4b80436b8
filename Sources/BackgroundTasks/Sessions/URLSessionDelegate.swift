// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Who is told what becomes of a session.
///
/// Calls come one at a time, on the session's delegate queue.
public protocol URLSessionDelegate: NSObjectProtocol {
    /// All that a wake tells of this session has been told.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)

    /// The session takes no more tasks, and lets go of its delegate.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
}

extension URLSessionDelegate {
    /// Does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
    /// Does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
}

/// Who is told of the ends of tasks.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// A task is over; without an error, it succeeded.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    )
}

extension URLSessionTaskDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {}
}

/// Who is given what data and upload tasks are answered, as a whole.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The body of the answer has come.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

extension URLSessionDataDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive data: Data
    ) {}
}

/// Who is given files.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// A file is there until this returns: move it, or read it.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    )

    /// Bytes have been written; called once, for the whole file.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    )
}

extension URLSessionDownloadDelegate {
    /// Does nothing.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {}
}
