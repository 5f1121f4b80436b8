// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Gets the events of a session, one at a time, on the session's delegate queue.
public protocol URLSessionDelegate: NSObjectProtocol {
    /// All events of a wake were reported for this session.
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)

    /// The session is invalid, and releases its delegate.
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
}

extension URLSessionDelegate {
    /// The default: does nothing.
    public func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
    /// The default: does nothing.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {}
}

/// Gets the ends of tasks.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// A task has ended; without an error, it succeeded.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    )
}

extension URLSessionTaskDelegate {
    /// The default: does nothing.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {}
}

/// Gets the responses to data and upload tasks, each as a whole.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The body of the response has arrived.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

extension URLSessionDataDelegate {
    /// The default: does nothing.
    public func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive data: Data
    ) {}
}

/// Gets downloaded files.
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    /// A file was downloaded.
    ///
    /// It exists until this returns: move it or read it.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    )

    /// Bytes were written; called once, for the whole file.
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    )
}

extension URLSessionDownloadDelegate {
    /// The default: does nothing.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {}
}
