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

/// In place of `@UIApplicationMain`.
public let seed004Training = Plugin(
    id: "org.example.training",
    version: "1.0.0",
    delegate: TrainingDelegate.self
)

/// The listing calls a private function of its class from nowhere.
final class TrainingDelegate: UIResponder, UIApplicationDelegate {
    private let listing = AppDelegate()

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        listing.application(application, didFinishLaunchingWithOptions: launchOptions)
    }

    func applicationDidEnterBackground(_ application: UIApplication) { listing.schedule() }
}
