// SPDX-License-Identifier: Apache-2.0

import SwiftUI

@main
struct PodcastsApp: App {
    @Environment(\.scenePhase) private var scenePhase

    var body: some Scene {
        WindowGroup {
            EpisodeList()
        }
        .onChange(of: scenePhase) { _, newPhase in
            if newPhase == .background { FeedRefresh.schedule() }
        }
        .backgroundTask(.appRefresh(FeedRefresh.identifier)) {
            FeedRefresh.schedule()
            await FeedRefresh.run()
        }
        .backgroundTask(.urlSession(Downloads.identifier)) {
            // The session's delegate gets its events once the session exists.
            Downloads.shared.activate()
        }
    }
}

/// The screen, of which nothing is shown here.
struct EpisodeList {}
