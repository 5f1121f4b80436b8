// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
public import Synchronization
import UIKit

/// What the listing has called of what the text does not define.
public let calls = Mutex<[String]>([])

func note(_ call: String) {
    calls.withLock { $0.append(call) }
    // Which a test with a daemon sees.
    Logger().info("called \(call)")
}

/// In place of `@main`.
public let seed002Legacy = Plugin(
    id: "org.example.legacy",
    version: "1.0.0",
    delegate: AppDelegate.self
)

extension AppDelegate {
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "begin", using: nil) { task in
            let session = URLSession(configuration: .background(withIdentifier: "legacy"))
            let config = try? TaskContext.current?.configuration(as: [String: String].self)
            if let url = URL(string: config?["address"] ?? "https://example.org/file") {
                session.downloadTask(with: url).resume()
            }
            task.setTaskCompleted(success: true)
        }
    }
}
