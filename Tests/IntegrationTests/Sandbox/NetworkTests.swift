// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostHost
import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// The network namespaces of workers.
    @Suite struct NetworkTests {
        // Another user than root cannot join a namespace of its own workers' user namespaces.
        @Test(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0))
        func `Workers share a network namespace with those of their plugin only`() async throws {
            var manifest = try TestManifest.misbehave()
            manifest.plugins.append(
                PluginDefinition(name: "other", library: try Fixture.library("misbehave"))
            )
            manifest.tasks.append(
                try TestManifest.task(
                    "task-of-other",
                    "other",
                    "honour-cancel",
                    RunLimits(runtime: .seconds(600), grace: .seconds(60))
                )
            )
            manifest.host.slots = 8
            try await withDaemon(manifest) { daemon in
                var runs: [RunRecord] = []
                for task in ["honour-cancel", "honour-cancel-poll", "honour-cancel-fd"] {
                    runs.append(try await daemon.begin(task))
                }
                runs.append(try await daemon.begin("task-of-other"))
                let layers = await daemon.host.status().plugins.filter {
                    ["misbehave", "other"].contains($0.name)
                }.flatMap(\.sandbox).filter { $0.layer == .network }
                #expect(layers.count == 2)
                // Where the machine permits no namespaces, the workers have none to compare.
                guard layers.allSatisfy({ $0.state == .holds }) else { return }
                let workers = try runs.map { try #require($0.pid) }
                #expect(Set(workers).count == 4)
                let networks = try workers.map { try network(of: "\($0)") }
                #expect(Set(networks[0..<3]).count == 1, "\(networks)")
                #expect(networks[3] != networks[0], "\(networks)")
                #expect(!networks.contains(try network(of: "self")), "\(networks)")
                // Messages and mounts stay each worker's own.
                for kind in ["ipc", "mnt", "uts"] {
                    let own = try workers.map { try namespace(kind, of: "\($0)") }
                    #expect(Set(own).count == 4, "\(kind): \(own)")
                }
            }
        }

        private func network(of process: String) throws -> String {
            try namespace("net", of: process)
        }

        /// The kind and the number of a namespace of a process.
        private func namespace(_ kind: String, of process: String) throws -> String {
            var text = [UInt8](repeating: 0, count: 64)
            let count = readlink("/proc/\(process)/ns/\(kind)", &text, text.count)
            try #require(count > 0, "\(String(cString: strerror(errno)))")
            return String(decoding: text.prefix(count), as: UTF8.self)
        }
    }
}
