// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials

/// A temporary file with data from memory.
struct TemporaryFile: Sendable {
    let url: URL

    init(_ data: Data, in directory: URL? = nil) throws {
        let directory = directory ?? FileManager.default.temporaryDirectory
        url = directory.appending(path: "bghost-session-\(UUID().uuidString).tmp")
        try data.write(to: url)
    }

    // A file that stays lies in the temporary folder, which ends with the worker.
    func remove() { try? FileManager.default.removeItem(at: url) }
}
