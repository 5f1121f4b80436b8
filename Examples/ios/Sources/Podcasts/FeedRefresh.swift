// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import Foundation

/// A feed in JSON Feed 1.1, as far as the app reads it.
struct Feed: Decodable {
    struct Item: Decodable {
        struct Attachment: Decodable {
            var url: URL
            var sizeInBytes: Int64?

            enum CodingKeys: String, CodingKey {
                case url
                case sizeInBytes = "size_in_bytes"
            }
        }

        var id: String
        var title: String
        var datePublished: Date
        var attachments: [Attachment]

        enum CodingKeys: String, CodingKey {
            case id, title, attachments
            case datePublished = "date_published"
        }
    }

    var title: String
    var items: [Item]
}

/// Looks for new episodes every four hours.
enum FeedRefresh {
    static let identifier = "com.example.podcasts.refresh"

    static func schedule() {
        let request = BGAppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = Calendar.current.date(byAdding: .hour, value: 4, to: Date())
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            print("Could not schedule the refresh: \(error)")
        }
    }

    static func run() async {
        guard let address = UserDefaults.standard.string(forKey: "feed"),
            let url = URL(string: address)
        else { return }
        do {
            var request = URLRequest(url: url)
            request.setValue("application/feed+json", forHTTPHeaderField: "Accept")
            let (data, response) = try await URLSession.shared.data(for: request)
            guard let response = response as? HTTPURLResponse, response.statusCode == 200 else {
                throw URLError(.badServerResponse)
            }
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            let feed = try decoder.decode(Feed.self, from: data)
            let newest = feed.items.sorted { $0.datePublished > $1.datePublished }.prefix(3)
            for item in newest where !Library.has(item.id) { Downloads.shared.start(item) }
        } catch {
            print("Could not read the feed: \(error.localizedDescription)")
        }
    }
}
