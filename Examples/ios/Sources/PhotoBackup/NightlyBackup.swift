// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import Foundation

/// Hands all new photos to the background session at night, while the phone charges.
enum NightlyBackup {
    static let identifier = "com.example.photobackup.nightly"

    static func schedule() {
        let request = BGProcessingTaskRequest(identifier: identifier)
        request.requiresNetworkConnectivity = true
        request.requiresExternalPower = true
        let tonight = DateComponents(hour: 2)
        request.earliestBeginDate = Calendar.current.nextDate(
            after: Date(),
            matching: tonight,
            matchingPolicy: .nextTime
        )
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            print("Could not schedule the backup: \(error)")
        }
    }

    static func run(_ task: BGProcessingTask) {
        schedule()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        task.expirationHandler = { queue.cancelAllOperations() }
        let photos = PhotoLibrary.waiting
        for photo in photos {
            queue.addOperation { Uploads.shared.start(photo) }
        }
        let last = BlockOperation { print("\(photos.count) photos handed over") }
        for operation in queue.operations { last.addDependency(operation) }
        last.completionBlock = { task.setTaskCompleted(success: !last.isCancelled) }
        queue.addOperation(last)
    }
}

/// The background session that sends photos, also while the app does not run.
final class Uploads: NSObject, URLSessionTaskDelegate, URLSessionDataDelegate {
    static let shared = Uploads()

    private var completionHandler: (() -> Void)?
    private lazy var session: URLSession = {
        let configuration = URLSessionConfiguration.background(
            withIdentifier: "com.example.photobackup.uploads"
        )
        configuration.httpAdditionalHeaders = ["X-Device": "phone"]
        return URLSession(configuration: configuration, delegate: self, delegateQueue: .main)
    }()

    func activate(_ completionHandler: @escaping () -> Void) {
        self.completionHandler = completionHandler
        _ = session
    }

    func start(_ photo: URL) {
        guard let request = PhotoLibrary.request(for: photo) else { return }
        let task = session.uploadTask(with: request, fromFile: photo)
        task.taskDescription = photo.lastPathComponent
        task.resume()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: Error?
    ) {
        let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
        guard let name = task.taskDescription else { return }
        if error == nil, (200..<300).contains(status) {
            PhotoLibrary.markSent(name)
        } else {
            print("Could not send \(name): status \(status), \(String(describing: error))")
        }
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
        completionHandler?()
        completionHandler = nil
    }
}
