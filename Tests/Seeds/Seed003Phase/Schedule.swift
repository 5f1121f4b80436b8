// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "Background tasks in SwiftUI", its first two listings, as they stand there.

import BackgroundTasks
import FoundationEssentials

func scheduleAppRefresh() {
    let request = BGAppRefreshTaskRequest(identifier: "myapprefresh")
    try? BGTaskScheduler.shared.submit(request)
}
