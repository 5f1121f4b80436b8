// SPDX-License-Identifier: Apache-2.0

import BghostAPI
@testable import BghostHost
import BghostLinux
import BghostModel
import BghostPolicy
import BghostStore
import BghostTestSupport
import Testing

extension Integration {
    /// Copies of the state.
    @Suite struct BackupTests {
        @Test(.timeLimit(.minutes(5)))
        func `A backup during runs contains the pending requests`() async throws {
            try await withDaemon(try TestManifest.misbehave(), adjust: durable) { daemon in
                let host = daemon.host
                let run = try await daemon.begin("honour-cancel")
                let request = try await host.submit(
                    Submission(task: "echo", earliestBegin: WallClock.now + hour)
                )
                let path = daemon.folder.file("copy")
                #expect(try await host.backUp(to: path, includesData: false).bytes > 0)
                let copy = try SQLiteStore(path: path + "/bghost.sqlite")
                let state = try copy.recover()
                #expect(state.pending.map(\.id) == [request.id])
                #expect(state.interrupted.map(\.run.id) == [run.id])
                copy.close()

                for (path, part) in [
                    (path, "exists already"), ("/nonexistent/a", "/nonexistent/a"),
                    ("copy", "absolute"), ("", "absolute"), ("/a\0b", "absolute"),
                ] {
                    let refusal = await #expect(throws: OperatorRefusal.self, "\(path)") {
                        try await host.backUp(to: path, includesData: false)
                    }
                    #expect(refusal?.code == .backupFailed)
                    #expect(refusal?.message.contains(part) == true, "\(refusal?.message ?? "")")
                }
                #expect(await host.stop(run: run.id))
                _ = try await daemon.end(of: run)
            }
        }
    }
}
