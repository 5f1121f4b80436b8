// SPDX-License-Identifier: Apache-2.0

import Foundation
import UserNotifications

/// The downloaded episodes.
enum Library {
    static var folder: URL { URL.documentsDirectory.appending(path: "Episodes") }

    static func file(of id: String) -> URL { folder.appending(path: id + ".mp3") }

    static func has(_ id: String) -> Bool {
        FileManager.default.fileExists(atPath: file(of: id).path)
    }
}

/// Downloads episodes in the background, also while the app does not run.
final class Downloads: NSObject, URLSessionDownloadDelegate {
    static let identifier = "com.example.podcasts.downloads"
    static let shared = Downloads()

    private lazy var session: URLSession = {
        let configuration = URLSessionConfiguration.background(withIdentifier: Self.identifier)
        configuration.sessionSendsLaunchEvents = true
        return URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    }()

    private override init() {
        super.init()
    }

    func activate() {
        _ = session
    }

    func start(_ item: Feed.Item) {
        guard let attachment = item.attachments.first else { return }
        let task = session.downloadTask(with: attachment.url)
        task.taskDescription = item.id
        task.countOfBytesClientExpectsToReceive =
            attachment.sizeInBytes ?? NSURLSessionTransferSizeUnknown
        task.resume()
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        guard let id = downloadTask.taskDescription else { return }
        do {
            try FileManager.default.createDirectory(
                at: Library.folder,
                withIntermediateDirectories: true
            )
            if Library.has(id) { try FileManager.default.removeItem(at: Library.file(of: id)) }
            try FileManager.default.moveItem(at: location, to: Library.file(of: id))
            announce(id)
        } catch {
            print("Could not keep episode \(id): \(error)")
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: Error?
    ) {
        guard let error else { return }
        print("Could not download \(task.taskDescription ?? "an episode"): \(error)")
    }

    private func announce(_ id: String) {
        let content = UNMutableNotificationContent()
        content.title = "New episode"
        content.body = "“\(id)” is ready to play."
        content.sound = .default
        content.userInfo = ["episode": id]
        let request = UNNotificationRequest(
            identifier: "episode-\(id)",
            content: content,
            trigger: nil
        )
        UNUserNotificationCenter.current().add(request) { error in
            if let error { print("Could not notify: \(error)") }
        }
    }
}
