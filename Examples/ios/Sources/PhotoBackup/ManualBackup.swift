// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import Foundation

/// "Back Up Now": sends all new photos at once, and shows how far it is.
enum ManualBackup {
    static let identifier = "com.example.photobackup.now"

    static func begin() {
        let count = PhotoLibrary.waiting.count
        let request = BGContinuedProcessingTaskRequest(
            identifier: identifier,
            title: "Backing up",
            subtitle: "\(count) photos"
        )
        request.strategy = .fail
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch BGTaskScheduler.Error.immediateRunIneligible {
            NightlyBackup.schedule()
        } catch {
            print("Could not begin the backup: \(error)")
        }
    }

    static func run(_ task: BGContinuedProcessingTask) {
        let work = Task {
            let photos = PhotoLibrary.waiting
            task.progress.totalUnitCount = Int64(photos.count)
            do {
                for photo in photos {
                    try Task.checkCancellation()
                    try await send(photo)
                    task.progress.completedUnitCount += 1
                    let done = task.progress.completedUnitCount
                    task.updateTitle(task.title, subtitle: "\(done) of \(photos.count)")
                }
                task.setTaskCompleted(success: true)
            } catch {
                print("The backup stopped: \(error)")
                task.setTaskCompleted(success: false)
            }
        }
        task.expirationHandler = { work.cancel() }
    }

    private static func send(_ photo: URL) async throws {
        guard let request = PhotoLibrary.request(for: photo) else { throw URLError(.badURL) }
        let (_, response) = try await URLSession.shared.upload(for: request, fromFile: photo)
        guard let response = response as? HTTPURLResponse, (200..<300).contains(response.statusCode)
        else { throw URLError(.badServerResponse) }
        PhotoLibrary.markSent(photo.lastPathComponent)
    }
}
