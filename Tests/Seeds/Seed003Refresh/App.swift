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
            // ..
        }
        .backgroundTask(.appRefresh("myapprefresh")) {
            let request = URLRequest(url: URL(string: "your_backend")!)
            guard let data = try? await URLSession.shared.data(for: request).0 else {
                return
            }
            
            let decoder = JSONDecoder()
            guard let products = try? decoder.decode([Product].self, from: data) else {
                return
            }
         
            if !products.isEmpty && !Task.isCancelled {
                await notifyUser(for: products)
            }
        }
    }
}
