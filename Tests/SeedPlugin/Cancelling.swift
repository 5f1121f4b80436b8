// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import FoundationEssentials
internal import UIKit

/// An app that cancels tasks of its sessions before it has resumed them.
let cancelling = Plugin(id: "org.example.cancelling", version: "1.0.0") {
    Handler("cancel") { context in
        for configuration in [
            URLSessionConfiguration.default, .background(withIdentifier: "photos"),
        ] {
            let session = URLSession(configuration: configuration)
            let error = await withCheckedContinuation { continuation in
                guard let url = URL(string: "http://192.0.2.1/") else { return }
                let task = session.dataTask(with: url) { _, _, error in
                    continuation.resume(returning: error)
                }
                task.priority = URLSessionTask.highPriority
                task.countOfBytesClientExpectsToSend = 200
                task.countOfBytesClientExpectsToReceive = 1 << 20
                task.suspend()
                task.cancel()
                task.resume()
            }
            let isCancelled = (error as? URLError)?.code == .cancelled
            context.log(.info, "completed as cancelled: \(isCancelled)")
        }
    }
}
