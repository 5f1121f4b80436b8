// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

import SwiftUI

struct MyApp: App {
    @Environment(\.scenePhase) private var phase
    
    var body: some Scene {
        WindowGroup {
            ContentView()
        }
        .onChange(of: phase) { newPhase in
            switch newPhase {
            case .background: scheduleAppRefresh()
            default: break
            }
        }
        .backgroundTask(.appRefresh("myapprefresh")) {
            await handleFileDownload()
        }
        .backgroundTask(.urlSession("myurlsession")) {
            // Handle your background url session events here
        }
    }
}
