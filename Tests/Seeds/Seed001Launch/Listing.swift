// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "Efficiency awaits: Background tasks in SwiftUI", its last listing, as it stands there.

import SwiftUI

struct StormyApp: App {
    var body: some Scene {
        WindowGroup {
            ContentView()
        }
        .backgroundTask(.appRefresh("StormyNoon")) {
            scheduleAppRefresh()
            if await isStormy() {
                await notifyForPhoto()
            }
        }
        .backgroundTask(.urlSession("isStormy")) {
            // ...
        }
    }
}
