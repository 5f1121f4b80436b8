// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "SwiftUIアプリでバックグラウンドタスクの実行": its listings that are statements, as they stand there.

import BackgroundFoundation
import BackgroundTasks

final class RequestList {
    var allUpdateRequests: [BGTaskRequest] = []

    func status() -> BackgroundRefreshStatus {
        NSProcessInfo.processInfo.backgroundRefreshStatus
    }

    func schedule() {
        if let scheduledTime = Calendar.current.date(byAdding: .second, value: 10, to: Date()) {
            let request = BGAppRefreshTaskRequest(identifier: "com.test.test.appRefreshTest")
            request.earliestBeginDate = scheduledTime
            do {
                try BGTaskScheduler.shared.submit(request)
            } catch {
                // Handle errors here...
            }
        }
    }

    func list() {
        BGTaskScheduler.shared.getPendingTaskRequests { requests in
            DispatchQueue.main.async {
                self.allUpdateRequests = requests
            }
        }
    }

    func printAll() {
        Task {
            let allRequests = await BGTaskScheduler.shared.pendingTaskRequests()
            print(allRequests)
        }
    }

    func cancelAll() {
        BGTaskScheduler.shared.cancelAllTaskRequests()
    }

    func cancel() {
        BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: "com.test.test.appRefreshTest")
    }
}
