// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostConfiguration
import BghostHost
import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Links that a plugin puts on the way to what the manifest grants.
    @Suite struct GrantLinkTests {
        @Test(.timeLimit(.minutes(5)), arguments: DaemonUser.allCases, [true, false])
        func `A plugin's link does not decide what is granted`(
            daemonUser: DaemonUser,
            hasMounts: Bool
        ) async {
            await #expect(processExitsWith: .success) { [daemonUser, hasMounts] in
                try await withPlantedLinks(daemonUser, hasMounts) { daemon, scene in
                    for (task, path) in [
                        ("nest", "w/a/conf/secret"), ("reader", "w/in/secret"),
                        ("data", "state/data/giver/out/secret"),
                    ] {
                        let answer = try await daemon.attempt(task, "read_file", path)
                        #expect(["ENOENT", "EACCES"].contains(answer), "\(path): \(answer)")
                        let line = try await daemon.line {
                            $0.event == "sandbox.absent" && $0.plugin == task
                        }
                        #expect(line.message.hasPrefix(scene.folder.path), "\(line.message)")
                    }
                    let answer = try await daemon.attempt("writer", "write_file", "w/p/made")
                    #expect(["ENOENT", "EACCES"].contains(answer), "\(answer)")
                    #expect(access(scene.outside + "/made", F_OK) != 0)
                    // Its other grants hold, and so do all layers.
                    #expect(try await daemon.attempt("nest", "read_file", "w/text") == "done")
                    guard hasMounts else { return }
                    let used = ["nest", "reader", "data", "writer"]
                    for plugin in await daemon.host.status().plugins
                    where used.contains(plugin.name) {
                        let missing = plugin.sandbox.filter { $0.state == .missing }.map(\.layer)
                        let isRoot = daemonUser == .root
                        #expect(missing == (isRoot ? [] : [.user, .processes]), "\(plugin.name)")
                    }
                }
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: DaemonUser.allCases, [true, false])
        func `A link of the operator leads to what is granted`(
            daemonUser: DaemonUser,
            hasMounts: Bool
        ) async {
            await #expect(processExitsWith: .success) { [daemonUser, hasMounts] in
                try await withPlantedLinks(daemonUser, hasMounts) { daemon, _ in
                    for path in ["current/text", "v1/text", "absolute/text"] {
                        let answer = try await daemon.attempt("release", "read_file", path)
                        #expect(answer == "done", "\(path): \(answer)")
                    }
                    for path in ["current/out/made", "v1/../v1/out/made"] {
                        let answer = try await daemon.attempt("release", "write_file", path)
                        #expect(answer == "done", "\(path): \(answer)")
                    }
                }
            }
        }
    }
}

/// A plugin `giver` that may write `w` and has put links there, and others that are granted paths through these.
private func withPlantedLinks(
    _ daemonUser: DaemonUser,
    _ hasMounts: Bool,
    _ body: (RunningHost, Scene) async throws -> Void
) async throws {
    let scene = try Scene()
    let library = try Fixture.library("escape")
    scene.give(to: daemonUser)
    try daemonUser.enter()
    let folder = scene.folder
    for name in ["w", "w/a", "v1", "v1/out"] { #expect(mkdir(folder.file(name), 0o755) == 0) }
    for name in ["w/text", "v1/text"] { try folder.write("text", to: name) }
    for (link, target) in [
        ("w/a/conf", scene.outside), ("w/in", scene.outside), ("w/p", scene.outside),
        ("current", "v1"), ("absolute", folder.file("v1")),
    ] {
        #expect(symlink(target, folder.file(link)) == 0)
    }
    var manifest = try TestManifest.witness()
    for (name, read, write) in [
        ("giver", [], ["w"]), ("nest", ["w/a/conf"], ["w"]), ("reader", ["w/in"], []),
        ("writer", [], ["w/p"]), ("data", ["state/data/giver/out"], []),
        ("release", [".", "absolute"], ["current/out"]),
    ] as [(String, [String], [String])] {
        let permissions = Permissions(
            read: read.map { $0 == "." ? folder.path : folder.file($0) },
            write: write.map(folder.file)
        )
        manifest.plugins.append(
            PluginDefinition(name: name, library: library, permissions: permissions)
        )
        manifest.tasks.append(try TestManifest.task(name, name, "try", nil))
    }
    let without: Set<SandboxLayer> = hasMounts ? [] : [.mounts, .user, .processes]
    try await withDaemon(manifest, folder: folder, adjust: { $0.sandbox.subtract(without) }) {
        daemon in
        // It has its data directory now, and links to what another one is granted there.
        #expect(try await daemon.attempt("giver", "own_thread", "") == "done")
        #expect(symlink(scene.outside, folder.file("state/data/giver/out")) == 0)
        try await body(daemon, scene)
    }
}

extension RunningHost {
    /// Has a plugin do something at a path of the scene: "done", or the name of the error that stopped it.
    fileprivate func attempt(_ task: String, _ act: String, _ path: String) async throws -> String {
        let run = try await run(task, #"{"act":"\#(act)","path":"\#(folder.file(path))"}"#)
        return run.outcome == .succeeded ? run.message : "\(run.outcome?.text ?? "") \(run.message)"
    }
}
