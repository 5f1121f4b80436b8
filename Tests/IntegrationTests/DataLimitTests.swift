// SPDX-License-Identifier: Apache-2.0

@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostServices
import BghostTestSupport
import BghostTransferBridge
import Glibc
import Testing

extension Integration {
    /// What a plugin may leave on the disk.
    @Suite struct DataLimitTests {
        private static let limits = WorkerLimits(dataBytes: 4 << 20, files: 1000)

        @Test(
            .timeLimit(.minutes(5)),
            arguments: [
                ("fill-data", "holds more than 4 MiB"), ("crowd-data", "has more than 1000 files"),
                ("burrow-in-data", "has folders more than 32 deep"),
            ]
        )
        func `A plugin over its data limit is killed and then disabled`(
            task: String,
            words: String
        ) async throws {
            try await withDaemon(try TestManifest.misbehave(limits: Self.limits)) { daemon in
                let record = try await daemon.runBesideOthers(task)
                #expect(record.outcome == .killed(.data))
                let entry = try await daemon.line { $0.event == "plugin.data_limit" }
                #expect(entry.message.contains(words), "\(entry.message)")
                #expect(entry.plugin == "misbehave")
                #expect(entry.message.contains("bghost enable misbehave"))
                // Nothing of it runs before there is room and the operator says so.
                let refusal = await #expect(throws: SubmitError.self) {
                    try await daemon.run("succeed")
                }
                #expect(refusal?.message.contains(words) == true, "\(refusal as Any)")
                let data = daemon.folder.file("state/data/misbehave")
                let rm = try Command.run(["sh", "-c", "rm -rf \(data)/*"])
                #expect(rm.exitCode == 0, "\(rm)")
                _ = try await daemon.host.enable(plugin: "misbehave")
                #expect(try await daemon.run("succeed").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `What a run wrote in the pause between two counts is counted after it`() async throws {
            try await withDaemon(try TestManifest.misbehave(limits: Self.limits)) { daemon in
                #expect(try await daemon.run("succeed").outcome == .succeeded)
                await daemon.host.noteSlowCount(of: "misbehave")
                #expect(try await daemon.run("fill-data", #"{"end":1}"#).outcome == .succeeded)
                let entry = try await daemon.line { $0.event == "plugin.data_limit" }
                #expect(entry.message.contains("holds more than 4 MiB"), "\(entry.message)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The daemon removes set-id bits from files of plugins`() async throws {
            try await withDaemon(try TestManifest.misbehave()) { daemon in
                let data = daemon.folder.file("state/data/misbehave")
                let program = data + "/program"
                try File.write([0], to: program)
                // As a daemon before this one may have let its plugin do.
                try #require(chmod(program, 0o6755) == 0)
                #expect(try await daemon.run("succeed").outcome == .succeeded)
                let entry = try await daemon.line { $0.event == "plugin.set_id" }
                #expect(entry.plugin == "misbehave" && entry.message.contains("`program`"))
                var status = stat()
                #expect(stat(program, &status) == 0 && status.st_mode & 0o7777 == 0o755)
                // That is no reason not to run it.
                #expect(try await daemon.run("succeed").outcome == .succeeded)
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `The data limit bounds the size of each file`() async throws {
            try await withDaemon(try TestManifest.misbehave(limits: Self.limits)) { daemon in
                let record = try await daemon.run("giant-file")
                #expect(record.outcome == .succeeded)
                let entry = try await daemon.line { $0.message.hasPrefix("wrote ") }
                #expect(entry.message == "wrote -1, then EFBIG")
            }
        }
    }
}

extension Host {
    /// As if a count of the plugin's data directory had taken so long that the next pause is five seconds.
    fileprivate func noteSlowCount(of plugin: String) {
        let now = services.now
        owners.pool.dataDirectories.measured(plugin, took: 0, used: 1_000_000_000, now: now)
    }
}
