// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import FoundationEssentials
internal import Synchronization
internal import UIKit

/// An app that makes its background session only when it is told to, or as it is launched.
let waiting = Plugin(id: "org.example.waiting", version: "1.0.0", delegate: WaitingDelegate.self)

/// The same, which makes its session as it is launched.
let launching = Plugin(
    id: "org.example.launching",
    version: "1.0.0",
    delegate: LaunchingDelegate.self
)

private struct Wanted: Codable { var url: String }

private let identifier = "photos"

/// What the app has in a global.
private let made = Mutex<URLSession?>(nil)

private func makeSession() {
    let session = URLSession(
        configuration: .background(withIdentifier: identifier),
        delegate: Teller(),
        delegateQueue: nil
    )
    made.withLock { $0 = session }
}

private func register() {
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "download", using: nil) { task in
        if let wanted = try? TaskContext.current?.parameters(as: Wanted.self),
            let url = URL(string: wanted.url)
        {
            // Without a delegate: the end is the next launch's.
            URLSession(configuration: .background(withIdentifier: identifier))
                .downloadTask(with: url).resume()
        }
        task.setTaskCompleted(success: true)
    }
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "open", using: nil) { task in
        makeSession()
        task.setTaskCompleted(success: true)
    }
    BGTaskScheduler.shared.register(forTaskWithIdentifier: "idle", using: nil) { task in
        task.setTaskCompleted(success: true)
    }
}

private final class WaitingDelegate: UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        register()
        return true
    }

    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        Logger().info("woken for \(identifier)")
        completionHandler()
    }
}

private final class LaunchingDelegate: UIApplicationDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        makeSession()
        register()
        return true
    }
}

private final class Teller: NSObject, URLSessionDownloadDelegate {
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didFinishDownloadingTo location: URL
    ) {
        let count = (try? Data(contentsOf: location))?.count ?? -1
        Logger().info("arrived \(count) bytes")
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        Logger().info("no more events")
    }
}
