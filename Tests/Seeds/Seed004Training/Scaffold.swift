// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
@_exported public import SeedScaffold
import UIKit

package let calls = Calls()

func note(_ call: String) { calls.note(call) }

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
