// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
@_exported public import SeedScaffold
import UIKit

package let calls = Calls()

func note(_ call: String) { calls.note(call) }

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
