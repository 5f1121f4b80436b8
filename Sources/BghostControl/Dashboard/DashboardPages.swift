// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCrypto
internal import CBghostPage
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The files of the dashboard, which are part of the program.
struct DashboardPages: Sendable {
    private struct File {
        let type: String
        let tag: String
        let bytes: ByteBuffer
    }

    private let files: [String: File]

    init() {
        var files: [String: File] = [:]
        for file in Self.embedded {
            let bytes = UnsafeRawBufferPointer(start: file.bytes, count: file.size)
            var hash = SHA256()
            hash.update(bufferPointer: bytes)
            let tag = hash.finalize().prefix(8).hexText
            let name = String(cString: file.name)
            let path = name == "index.html" ? "/" : "/app/\(name)"
            files[path] = File(
                type: String(cString: file.type),
                tag: "\"\(tag)\"",
                bytes: ByteBuffer(bytes: bytes)
            )
        }
        self.files = files
    }

    private static var embedded: UnsafeBufferPointer<bghost_page_file> {
        UnsafeBufferPointer(start: bghost_pages(), count: bghost_page_count())
    }

    /// Whether the path is that of a page or of a part of it; the daemon knows no other below `/app`.
    static func isPage(_ path: String) -> Bool { path == "/" || path.hasPrefix("/app/") }

    /// The answer to a request for a page; `nil` if there is no such page.
    func answer(_ request: Request) -> Response? {
        guard !Verbs.isVerb(request), let file = files[request.uri.path] else { return nil }
        // The browser asks each time, so that pages and daemon are of one version.
        let fields: HTTPFields = [
            .contentType: file.type, .eTag: file.tag, .cacheControl: "no-cache",
        ]
        guard request.headers[.ifNoneMatch] != file.tag else {
            return Response(status: .notModified, headers: fields)
        }
        return Response(
            status: .ok,
            headers: fields,
            body: ResponseBody(byteBuffer: file.bytes)
        )
    }
}
