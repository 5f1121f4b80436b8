// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
@testable import BghostHost
import BghostModel
import BghostPolicy
import BghostTestSupport
import BghostTrust
import Glibc
import Testing

extension Integration {
    /// Libraries that a plugin needs: they are its code as much as its own file is.
    @Suite struct NeededLibraryTests {
        private let folder: TemporaryDirectory
        private let helper: String
        private let plugin: String

        init() throws {
            folder = try TemporaryDirectory()
            helper = try folder.write(try File.read(try Self.helper(42)), to: "libhelper.so")
            let source = PackageRoot.path + "/Tests/Fixtures/Plugins/needs-helper.c"
            plugin = folder.file("plugin.so")
            // The path of the folder is another one each time, so it is made here and not kept.
            let made = try Command.run([
                Toolchain.c, "-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-D_GNU_SOURCE",
                "-I" + Fixture.include, source, "-o", plugin, "-L" + folder.path, "-lhelper",
                "-Wl,-rpath," + folder.path,
            ])
            try #require(made.exitCode == 0, "\(made.error)")
        }

        private static func helper(_ value: Int) throws -> String {
            try Fixture.library(
                "helper",
                defines: ["HELPER_VALUE=\(value)"],
                flags: ["-Wl,-soname,libhelper.so"]
            )
        }

        private func manifest(
            _ isolation: Isolation = .worker,
            sha256: String? = nil,
            libraries: [String: String] = [:]
        ) throws -> Manifest {
            var manifest = try TestManifest.plugin("needy", library: plugin)
            for index in manifest.plugins.indices where manifest.plugins[index].name == "needy" {
                manifest.plugins[index].sha256 = sha256
                manifest.plugins[index].libraries = libraries
                manifest.plugins[index].isolation = isolation
            }
            return manifest
        }

        private func problem(_ daemon: RunningHost) async throws -> String {
            let status = await daemon.host.status()
            return try #require(status.plugins.first { $0.name == "needy" }).problem ?? ""
        }

        @Test(.timeLimit(.minutes(5)))
        func `A needed library that everybody can change is refused until they cannot`()
            async throws
        {
            try #require(chmod(helper, 0o666) == 0)
            try await withDaemon(try manifest()) { daemon in
                let request = try await daemon.host.submit(Submission(task: "task"))
                let problem = try await problem(daemon)
                #expect(
                    problem.hasPrefix("\(plugin) needs \(helper), and \(helper) can be written by")
                )
                try #require(chmod(helper, 0o644) == 0)
                let run = try #require(await daemon.host.waitForRun(ofRequest: request.id))
                #expect(run.outcome == .succeeded)
            }
        }

        /// Links a library of one C text in a folder, and returns its path.
        private func link(
            _ name: String,
            in place: String,
            _ text: String,
            _ flags: [String]
        ) throws -> String {
            let source = try folder.write(text, to: name + ".c")
            let library = "\(place)/\(name).so"
            let made = try Command.run(
                [Toolchain.c, "-shared", "-fPIC", "-o", library, source, "-Wl,-soname,\(name).so"]
                    + flags
            )
            try #require(made.exitCode == 0, "\(made.error)")
            return library
        }

        /// The other ways in which the loader comes to a library of a plugin.
        enum Way: String, CaseIterable {
            case auxiliary
            case filter
            case variant
            case variantAlone
            case pathOfNeeded
            case placeholder
            case relative
        }

        /// The plugin's folder from the current folder of this process, whose host looks at the plugin.
        private var relative: String {
            var current = [CChar](repeating: 0, count: Int(PATH_MAX))
            let depth = getcwd(&current, current.count).map {
                String(cString: $0).split(separator: "/").count
            }
            return String(repeating: "../", count: depth ?? 0) + folder.path.dropFirst()
        }

        /// Builds the plugin anew, so that the loader would load a library that everybody can change.
        ///
        /// - Returns: what must be said of it.
        private func open(_ way: Way) throws -> String {
            let rpath = "-Wl,-rpath,\(folder.path)"
            var flags = [rpath]
            let library: String
            switch way {
            case .auxiliary, .filter:
                library = helper
                flags.append("-Wl,--\(way.rawValue)=libhelper.so")
            case .variant, .variantAlone:
                let place = folder.file("glibc-hwcaps/x86-64-v2")
                try #require(
                    mkdir(folder.file("glibc-hwcaps"), 0o755) == 0 && mkdir(place, 0o755) == 0
                )
                library = "\(place)/libhelper.so"
                flags += ["-L" + folder.path, "-Wl,--no-as-needed", "-lhelper"]
                try File.write(try File.read(helper), to: library)
            case .pathOfNeeded:
                let deep = folder.file("deep")
                try #require(mkdir(deep, 0o755) == 0)
                let all = ["-Wl,--no-as-needed", "-L" + deep, "-L" + folder.path]
                library = try link("libleaf", in: deep, "int leaf;", [])
                _ = try link("liblow", in: deep, "int low;", all + ["-lleaf"])
                let older = ["-Wl,--disable-new-dtags", "-Wl,-rpath,\(deep)"]
                _ = try link("libmiddle", in: folder.path, "int middle;", all + older + ["-llow"])
                flags += all + ["-Wl,-rpath-link,\(deep)", "-lmiddle"]
            case .placeholder:
                library = helper
                flags = [
                    "-Wl,-rpath,\(folder.path)/$LIB", "-L" + folder.path, "-Wl,--no-as-needed",
                    "-lhelper",
                ]
            case .relative:
                library = helper
                flags = [
                    "-Wl,-rpath,\(relative)", "-L" + folder.path, "-Wl,--no-as-needed", "-lhelper",
                ]
            }
            let source = PackageRoot.path + "/Tests/Fixtures/Plugins/good.c"
            let made = try Command.run(
                [
                    Toolchain.c, "-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-D_GNU_SOURCE",
                    "-I" + Fixture.include, source, "-o", plugin,
                ] + flags
            )
            try #require(made.exitCode == 0, "\(made.error)")
            if way == .variantAlone {
                unlink(helper)
                return "\(plugin) needs \(library), which not every machine loads"
            }
            try #require(chmod(library, 0o666) == 0)
            if way == .relative {
                return
                    "\(plugin) has its libraries searched for in `\(relative)`, a folder that begins"
            }
            if way == .placeholder {
                return "\(plugin) has its libraries searched for in `\(folder.path)/$LIB`"
            }
            let needing = way == .pathOfNeeded ? folder.file("deep/liblow.so") : plugin
            return "\(needing) needs \(library), and \(library) can be written by"
        }

        @Test(.timeLimit(.minutes(5)), arguments: Way.allCases)
        func `No way of the loader leads to a library that others can change`(
            way: Way
        ) async throws {
            let said = try open(way)
            try await withDaemon(try manifest()) { daemon in
                let problem = try await problem(daemon)
                #expect(problem.hasPrefix(said), "\(problem)")
            }
        }

        @Test(.timeLimit(.minutes(5)))
        func `A pinned plugin wants the libraries pinned that it needs`() async throws {
            let sum = try HeldLibrary(path: plugin).sha256
            let sumOfHelper = try HeldLibrary(path: helper).sha256
            try await withDaemon(try manifest(sha256: sum)) { daemon in
                let problem = try await problem(daemon)
                #expect(
                    problem.contains("the plugin is pinned, and \(helper), which it needs, is not")
                )
                #expect(
                    problem.contains(
                        #""libraries": {"libhelper.so": {"sha256": "\#(sumOfHelper)"}}"#
                    )
                )
            }
            let wrong = String(repeating: "0", count: 64)
            try await withDaemon(
                try manifest(sha256: sum, libraries: ["libhelper.so": wrong])
            ) { daemon in
                let problem = try await problem(daemon)
                #expect(problem.contains("\(helper) is not the library that the manifest pins"))
                #expect(problem.contains("its SHA-256 is \(sumOfHelper)"))
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: Isolation.allCases)
        func `A pinned library is the one that runs, whatever becomes of the file`(
            isolation: Isolation
        ) async throws {
            let manifest = try manifest(
                isolation,
                sha256: try HeldLibrary(path: plugin).sha256,
                libraries: ["libhelper.so": try HeldLibrary(path: helper).sha256]
            )
            try await withDaemon(manifest) { daemon in
                // In its place, so that its inode stays.
                try File.write(try File.read(try Self.helper(1)), to: helper)
                #expect(try await daemon.run("task").outcome == .succeeded)
            }
        }
    }
}
