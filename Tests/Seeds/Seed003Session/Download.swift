// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "Background tasks in SwiftUI", its last two listings, as they stand there.

import BackgroundFoundation

func handleFileDownload() async {
    let url = URL(string: "your_backend")!
    
    let config = URLSessionConfiguration.background(withIdentifier: "myurlsession")
    config.sessionSendsLaunchEvents = true
    let session = URLSession(configuration: config)
    
    let data = await withTaskCancellationHandler {
        try? await session.data(for: URLRequest(url: url))
    } onCancel: {
        let task = session.downloadTask(with: URLRequest(url: url))
        task.resume()
    }

    if let data {
        await notifyUser()
    }
}
