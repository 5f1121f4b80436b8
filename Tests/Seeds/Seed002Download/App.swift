// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "SwiftUIアプリでバックグラウンドタスクの実行": the app with the session, as it stands there.

import SwiftUI

struct BackgroundTaskSwiftUIDemoApp: App {
    
    var body: some Scene {
        WindowGroup {
            ContentView()
        }
        .backgroundTask(.appRefresh("com.test.test.appRefreshTest")) {
            scheduleTestNotification()
            DataFetchHelper.shared.startRequestingQiitaWebsite()
        }
         .backgroundTask(.urlSession("com.test.test.fetchRemoteData")) { item in
             _ = DataFetchHelper.shared
         }
    }
    
}
