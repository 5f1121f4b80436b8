// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import FoundationEssentials
import Synchronization

/// The calls of a delegate, in order.
final class Events: Sendable {
    private let events = Mutex<[String]>([])

    var all: [String] { events.withLock { $0 } }

    func note(_ event: String) { events.withLock { $0.append(event) } }
}

/// A delegate that records all its calls.
final class NotingDelegate: NSObject, URLSessionDownloadDelegate, URLSessionDataDelegate,
    @unchecked Sendable
{
    // @unchecked: nothing of it changes.
    private let events: Events

    init(_ events: Events) { self.events = events }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let text = (try? String(contentsOf: location, encoding: .utf8)) ?? "unreadable"
        events.note("file \(text) of \(downloadTask.taskDescription ?? "-")")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        events.note("data \(String(decoding: data, as: UTF8.self))")
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    ) {
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
        let code = (error as? URLError)?.errorCode
        events.note("end \(status) \(code.map { "\($0)" } ?? "well")")
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        events.note("finished")
    }
}

/// An address for tests; nothing is there.
func address(_ path: String) -> URL {
    URL(string: "https://example.org/")?.appending(path: path) ?? URL(filePath: "/")
}
