// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials

/// What a run is given; the host refuses other parameters when they are submitted.
struct Parameters: Codable {
    /// The page.
    var url: String
    /// When to run again, seconds.
    var again: Int?
}

/// What a run tells.
struct Report: Codable {
    var status: Int
    var bytes: Int
    var runs: Int
}

let plugin = Plugin(id: "org.example.report-swift", version: "1.0.0") {
    // Fetches a page, counts its own runs in the data directory, and asks for its next run.
    Handler("report") { (context, parameters: Parameters) in
        guard let url = URL(string: parameters.url) else {
            throw PermanentFailure("`url` is no URL: \(parameters.url)")
        }
        context.progress(0, of: 3, "fetching")
        // It throws if the host cancels the run.
        let page = try await context.fetch(FetchRequest(url))
        context.progress(1, of: 3, "counting")
        let runs = try count(context.dataDirectory.appending(path: "runs"))
        context.progress(2, of: 3, "submitting")
        if let again = parameters.again {
            guard (1...86_400).contains(again) else {
                throw PermanentFailure("`again` must be 1 to 86400 seconds")
            }
            let request = BGAppRefreshTaskRequest(identifier: context.taskIdentifier)
            request.earliestBeginDate = context.now.addingTimeInterval(Double(again))
            request.parameters = parameters
            try BGTaskScheduler.shared.submit(request)
        }
        context.progress(3, of: 3, "done")
        context.log(.info, "fetched \(page.body.count) bytes")
        return Report(status: page.status, bytes: page.body.count, runs: runs)
    }
}

/// Counts in a file, which is replaced as a whole.
private func count(_ file: URL) throws -> Int {
    // There is no file before the first run.
    let before = (try? String(contentsOf: file, encoding: .utf8)).flatMap { Int($0) } ?? 0
    try Data("\(before + 1)".utf8).write(to: file, options: .atomic)
    return before + 1
}

/// The function that the host calls first.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
