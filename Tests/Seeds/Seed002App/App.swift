// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "SwiftUIアプリでバックグラウンドタスクの実行": the app of the first flow, as it stands there.

import SwiftUI

struct BackgroundTaskSwiftUIDemoApp: App {
    
    var body: some Scene {
        WindowGroup {
            ContentView()
        }
        .backgroundTask(.appRefresh("com.test.test.appRefreshTest")) {
            await scheduleTestNotification()
            await DataFetchHelper.shared.startRequestingRemoteData()
        }
    }
    
}
