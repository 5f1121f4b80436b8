// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials

/// Uploads the photos of a folder, each once, and has the user told when they are there.
let plugin = Plugin(
    id: "org.bghost.sample.photo-upload",
    version: "1.0.0",
    vendor: "bghost samples"
) {
    // Serial: two runs would upload the same photos.
    Handler("photos.upload", options: .serial, PhotoUpload.self)
}

/// Where the host comes in.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }

struct PhotoUpload: TaskHandler {
    /// The folder of photos, absolute.
    ///
    /// It is only read.
    var spool: String
    /// Where each photo goes under its name.
    var server: String
    /// The task that tells the user; nobody is told without one.
    var notify: String?

    struct Result: Encodable {
        /// Photos that this run has sent.
        var uploaded = 0
        var bytes = 0
    }

    func run(_ context: TaskContext) async throws -> Result {
        guard let server = URL(string: server) else {
            throw UploadError(description: "`server` is not a URL: \(server)")
        }
        var ledger = try Ledger(in: context.dataDirectory)
        let spooled = try Photo.all(in: spool)
        ledger.keep(spooled)
        let photos = spooled.filter { !ledger.contains($0) }
        var result = Result()
        for (index, photo) in photos.enumerated() {
            try Task.checkCancellation()
            context.progress(index, of: photos.count, photo.name)
            let receipt = try await upload(photo, to: server, context)
            // Before the next one: a run that is stopped here need not send this one again.
            try ledger.add(photo)
            result.uploaded += 1
            result.bytes += receipt.bytes
            context.log(.info, "sent \(photo.name), SHA-256 \(receipt.sha256)")
        }
        context.progress(photos.count, of: photos.count)
        // Also what an earlier run sent without getting so far.
        let news = ledger.unannounced
        if let notify, !news.isEmpty {
            try await context.submit(notify, parameters: Notification(news))
            try ledger.announced(news)
        }
        return result
    }

    private func upload(
        _ photo: Photo,
        to server: URL,
        _ context: TaskContext
    ) async throws -> Receipt {
        let request = FetchRequest(
            server.appending(path: photo.name),
            method: "PUT",
            headers: [("Content-Type", photo.mediaType)],
            body: .file(photo.path),
            digest: true,
            timeout: .seconds(300)
        )
        let response: FetchResponse
        do {
            response = try await context.fetch(request)
        } catch let error as FetchError where error.code == .failed {
            throw RetryLater(error.description)
        }
        if response.isTemporaryFailure {
            throw RetryLater(after: response.retryAfter, "the server answers \(response.status)")
        }
        guard response.status == 200 || response.status == 201 else {
            let reason = String(decoding: response.body.prefix(200), as: UTF8.self)
            throw UploadError(description: "\(photo.name): \(response.status) \(reason)")
        }
        let receipt = try JSONDecoder().decode(Receipt.self, from: response.body)
        guard receipt.bytes == photo.size else {
            throw RetryLater("\(photo.name): \(receipt.bytes) of \(photo.size) bytes arrived")
        }
        return receipt
    }
}

/// What the server says it has stored.
struct Receipt: Decodable {
    var sha256: String
    var bytes: Int
}

/// What the notifier is to deliver.
struct Notification: Encodable {
    var title = "Photos uploaded"
    var message: String
    var tags = ["camera"]
    /// The same for the same photos, and short however many they are.
    var id: String

    init(_ photos: [(name: String, version: String)]) {
        message = photos.count == 1 ? "\(photos[0].name) is safe" : "\(photos.count) are safe"
        // FNV-1a, as Swift's own hashes differ from process to process.
        let hash = photos.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, photo in
            "\(photo.name)/\(photo.version)/".utf8.reduce(hash) {
                ($0 ^ UInt64($1)) &* 0x100_0000_01B3
            }
        }
        id = "photos-\(String(hash, radix: 16))"
    }
}

struct UploadError: Error, CustomStringConvertible {
    let description: String
}
