// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "Quản lý background tasks với Task Scheduler trên iOS 13": the processing task, as it stands there.

import BackgroundTasks
import UIKit

class AppDelegate: UIResponder, UIApplicationDelegate {

    func application(_ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?) -> Bool {
        
        BGTaskScheduler.shared.register(
            forTaskWithIdentifier: "pl.snowdog.example.train",
            using: DispatchQueue.global()
        ) { task in
            self.handleMLTrain(task)
        }
        return true
    }

    private func scheduleMLTrain() {
        do {
            let request = BGProcessingTaskRequest(identifier: "pl.snowdog.example.train")
            request.requiresExternalPower = true
            request.requiresNetworkConnectivity = true
            try BGTaskScheduler.shared.submit(request)
        } catch {
            print(error)
        }
    }
}

extension AppDelegate {
    // What the text does not define.
    func handleMLTrain(_ task: BGTask) {
        note(task.identifier)
        task.setTaskCompleted(success: true)
    }

    func schedule() { scheduleMLTrain() }
}
