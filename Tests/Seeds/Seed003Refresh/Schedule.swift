// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "Background tasks in SwiftUI", its third and fourth listing, as they stand there.

import BackgroundTasks
import FoundationEssentials

func scheduleAppRefresh() {
    let request = BGAppRefreshTaskRequest(identifier: "myapprefresh")
    request.earliestBeginDate = .now.addingTimeInterval(24 * 3600)
    try? BGTaskScheduler.shared.submit(request)
}
