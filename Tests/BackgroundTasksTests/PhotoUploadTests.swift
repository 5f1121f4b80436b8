// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import CBghost
import FoundationEssentials
import Synchronization
import Testing

/// The sample plugin that uploads photos, as the build made it.
@Suite(.timeLimit(.minutes(5)))
struct PhotoUploadTests {
    private let spool: TemporaryDirectory
    private let data: TemporaryDirectory
    private let host: ScriptedHost

    init() throws {
        spool = try TemporaryDirectory()
        data = try TemporaryDirectory()
        host = ScriptedHost(extensions: [BG_EXT_SCHEDULE, BG_EXT_TRANSFER, BG_EXT_NOTIFY])
        for name in ["b.jpg", "a.PNG", "note.txt"] { try spool.write("abc", to: name) }
        host.onTransfer.withLock { $0 = { _ in Self.end(201) } }
    }

    private static func end(_ status: Int, state: String = "done", fault: String = "null") -> String
    {
        """
        {"id":"0","session":"photos","url":"http://h/photos","label":"","continuation":"",\
        "upload":true,"state":"\(state)","status":\(status),"headers":[],"body":"no room",\
        "file":"","bytes":3,"total":3,"fault":\(fault)}
        """
    }

    private func look(tus: Bool = true) async throws -> Ending {
        let config = #"{"folder":"\#(spool.path)","server":"http://h/photos","tus":\#(tus)}"#
        let plugin = try PluginFile(Artifact.path("libPhotoUpload.so"))
            .open(on: host, config: config)
        return try await plugin.end(.init(directory: data.path))
    }

    /// The transfers since the last time, in the order of their files.
    private func transfers() -> [TransferCall] {
        host.state.withLock { state in
            defer { state.transfers = [] }
            return state.transfers.sorted { $0.file < $1.file }
        }
    }

    private var told: [String] {
        host.state.withLock { $0.notifications.map(\.body) }.sorted()
    }

    @Test func `The handler uploads each photo once, by tus with a digest, and notifies`()
        async throws
    {
        #expect(try await look().status == BG_OK)
        let sent = transfers()
        #expect(sent.map(\.file) == ["\(spool.path)/a.PNG", "\(spool.path)/b.jpg"])
        #expect(sent.allSatisfy { $0.session == "photos" && $0.url == "http://h/photos" })
        #expect(sent.allSatisfy { $0.flags & UInt32(BG_TRANSFER_RESUMABLE) != 0 })
        // SHA-256 of "abc", from FIPS 180-2.
        let digest = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
        #expect(
            sent.last?.headers == "Content-Type: image/jpeg\nRepr-Digest: \(digest)\n"
                + "Upload-Metadata: filename Yi5qcGc=\n"
        )
        #expect(told == ["a.PNG is safe", "b.jpg is safe"])

        #expect(try await look().status == BG_OK)
        #expect(transfers().isEmpty)
        #expect(told.count == 2)
        // Another version is another photo, and one that is gone is forgotten.
        try spool.write("abcd", to: "b.jpg")
        try FileManager.default.removeItem(atPath: "\(spool.path)/a.PNG")
        #expect(try await look().status == BG_OK)
        #expect(transfers().map(\.file) == ["\(spool.path)/b.jpg"])
        #expect(try BghostTestSupport.File.list("\(data.path)/sent").count == 1)
    }

    @Test func `Without tus the handler uploads each photo with PUT`() async throws {
        #expect(try await look(tus: false).status == BG_OK)
        let sent = transfers()
        #expect(sent.map(\.url) == ["http://h/photos/a.PNG", "http://h/photos/b.jpg"])
        #expect(sent.allSatisfy { $0.method == "PUT" && !$0.headers.contains("Upload-Metadata") })
        #expect(sent.allSatisfy { $0.flags & UInt32(BG_TRANSFER_RESUMABLE) == 0 })
    }

    @Test func `The handler first submits its next run`() async throws {
        try FileManager.default.removeItem(atPath: spool.path)
        #expect(try await look().status == BG_E_FAILED)
        let next = try #require(host.state.withLock { $0.submissions }.first)
        #expect(next.identifier == "com.example.stormy.photos")
        let minutes = Double(next.earliest) / 60_000 - Date.now.timeIntervalSince1970 / 60
        #expect((14...15).contains(minutes))
    }

    @Test func `A refused photo does not delay the others, and is retried`() async throws {
        host.onTransfer.withLock {
            $0 = { $0.file.hasSuffix("a.PNG") ? Self.end(507, state: "failed") : Self.end(201) }
        }
        let first = try await look()
        #expect(first.status == BG_E_FAILED)
        #expect(first.message == "the server answers with status 507 no room")
        #expect(transfers().count == 2)
        #expect(told == ["b.jpg is safe"])
        host.onTransfer.withLock { $0 = { _ in Self.end(201) } }
        #expect(try await look().status == BG_OK)
        #expect(transfers().map(\.file) == ["\(spool.path)/a.PNG"])
        #expect(told == ["a.PNG is safe", "b.jpg is safe"])
    }

    @Test func `A refused notification does not upload the photos again`() async throws {
        host.state.withLock { $0.postAnswer = BG_E_PERM }
        #expect(try await look().status == BG_OK)
        #expect(transfers().count == 2)
        #expect(
            host.logs.contains {
                $0.message.contains("a.PNG is uploaded, but its notification was refused")
            }
        )
        #expect(try await look().status == BG_OK)
        #expect(transfers().isEmpty)
    }

    @Test func `A cancelled run leaves its uploads to the daemon`() async throws {
        host.onTransfer.withLock { $0 = { _ in nil } }
        #expect(try await look().status == BG_OK)
        #expect(transfers().count == 2)
        #expect(told.isEmpty)
        // Not sent yet: the same are asked for, which the host knows to be under way.
        #expect(try await look().status == BG_OK)
        #expect(transfers().count == 2)
    }
}
