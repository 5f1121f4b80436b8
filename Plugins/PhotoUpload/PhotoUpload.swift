// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
import SwiftUI
import UserNotifications

/// Uploads the photos of a folder, each once, and tells the user when they are there.
let plugin = Plugin(
    id: "org.bghost.sample.photo-upload",
    version: "2.0.0",
    vendor: "bghost samples",
    app: PhotoApp.self
)

/// Where the host comes in.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }

struct PhotoApp: App {
    static let task = "com.example.stormy.photos"

    var body: some Scene {
        WindowGroup {}
            .backgroundTask(.appRefresh(Self.task)) {
                try scheduleNextLook()
                try await uploadPhotos()
            }
            // Uploads have ended since their run was over: here, they are answered with their ends.
            .backgroundTask(.urlSession(Upload.session)) { try await uploadPhotos() }
    }
}

/// The plugin's `config` of `tasks.json`.
struct Settings: Decodable {
    /// The folder of photos, absolute; it is only read.
    var folder: String
    /// Where they go: each under its name, or all to this address if the server speaks tus.
    var server: String
    /// Whether the server speaks tus 1.0.0, by which an upload goes on where it was cut.
    var tus: Bool?
}

/// Has the folder looked at in a quarter of an hour.
func scheduleNextLook() throws {
    let request = BGProcessingTaskRequest(identifier: PhotoApp.task)
    request.earliestBeginDate = (TaskContext.current?.now ?? .now) + 15 * 60
    try BGTaskScheduler.shared.submit(request)
}

/// Brings the photos that the server does not have to it, all at once.
func uploadPhotos() async throws {
    guard let context = TaskContext.current else { return }
    let settings: Settings = try context.configuration()
    let sent = try SentPhotos(in: context.dataDirectory)
    let all = try Photo.all(in: settings.folder)
    try sent.keep(only: all)
    let failures = await withTaskGroup(of: (any Error)?.self) { group in
        for photo in all where !sent.contains(photo) {
            group.addTask {
                do {
                    try await upload(photo, settings, sent)
                    return nil
                } catch {
                    // Not thrown here: that would cancel the others, and so end their transfers.
                    return error
                }
            }
        }
        return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
    }
    if let failure = failures.first { throw failure }
}

private func upload(_ photo: Photo, _ settings: Settings, _ sent: SentPhotos) async throws {
    do {
        try await Upload(photo, settings).end()
    } catch URLError.cancelled {
        // The run's time is over, and the upload goes on: its end wakes the app.
        return
    } catch {
        Logger().error("\(photo.name): \(error)")
        // A wake that fails is told of the same failure again; there is another look.
        guard TaskContext.current?.wakeSession != nil else { throw error }
        return
    }
    await tell(photo)
    // Record the photo last: if the run is killed before, the next one posts the notification again,
    // with the same identifier.
    try sent.add(photo)
}

private func tell(_ photo: Photo) async {
    let content = UNMutableNotificationContent()
    content.title = "Photo uploaded"
    content.body = "\(photo.name) is safe"
    content.userInfo = ["tags": ["camera"]]
    let request = UNNotificationRequest(
        identifier: "photo-\(photo.fingerprint)",
        content: content,
        trigger: nil
    )
    do {
        try await UNUserNotificationCenter.current().add(request)
    } catch {
        // The photo has arrived; a failed notification is no reason to send it again.
        Logger().error("\(photo.name) is uploaded, but its notification was refused: \(error)")
    }
}
