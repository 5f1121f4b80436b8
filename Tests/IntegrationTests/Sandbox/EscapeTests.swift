// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
import BghostHost
import BghostLinux
import BghostModel
import BghostTestSupport
import Glibc
import Testing

extension Integration {
    /// Ways out of a worker, each tried by a real one.
    ///
    /// Each test is a process of its own, which may become another user for good.
    @Suite struct EscapeTests {
        @Test(.timeLimit(.minutes(5)), arguments: DaemonUser.allCases)
        func `Each attempt to leave a worker fails`(daemonUser: DaemonUser) async {
            await #expect(processExitsWith: .success) { [daemonUser] in
                try await withEscapes(daemonUser) { daemon, scene in
                    for escape in Escape.all {
                        let answer = try await daemon.attempt(escape.act, scene.arguments(escape))
                        #expect(
                            escape.answers.contains(answer),
                            "\(escape.act) \(escape.path): \(answer)"
                        )
                    }
                    // The worker can be reused after all attempts.
                    #expect(try await daemon.attempt("own_signal") == "done")
                    #expect(try await daemon.attempt("own_thread") == "done")
                }
            }
        }

        // An act that fails without a sandbox too proves nothing about the sandbox.
        @Test(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0))
        func `Without a sandbox each attempt succeeds`() async {
            await #expect(processExitsWith: .success) {
                // Where each of its acts takes long, the processes that it starts are counted too.
                let limits = WorkerLimits(processes: 4)
                try await withEscapes(.root, Permissions(), limits, adjust: { $0.sandbox = [] }) {
                    daemon,
                    scene in
                    for escape in Escape.all where escape.isOpenWithoutSandbox {
                        let answer = try await daemon.attempt(escape.act, scene.arguments(escape))
                        #expect(answer == "done", "\(escape.act) \(escape.path): \(answer)")
                    }
                }
            }
        }

        // Where no namespaces can be had, as in many containers.
        @Test(.timeLimit(.minutes(5)), arguments: DaemonUser.allCases)
        func `Without namespaces a worker changes no file of others`(daemonUser: DaemonUser) async {
            await #expect(processExitsWith: .success) { [daemonUser] in
                let without: Set<SandboxLayer> = [.mounts, .user, .processes]
                try await withEscapes(daemonUser, adjust: { $0.sandbox.subtract(without) }) {
                    daemon,
                    scene in
                    let path = scene.outside + "/secret"
                    for act in ["change_mode", "change_times", "change_attribute", "cut_off"] {
                        let answer = try await daemon.attempt(act, #","path":"\#(path)""#)
                        #expect(answer == "EPERM", "\(act): \(answer)")
                    }
                    for act in ["read_file", "write_file"] {
                        let answer = try await daemon.attempt(act, #","path":"\#(path)""#)
                        #expect(answer == "EACCES", "\(act): \(answer)")
                    }
                }
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: DaemonUser.allCases)
        func `Permitted acts succeed in the sandbox`(daemonUser: DaemonUser) async {
            await #expect(processExitsWith: .success) { [daemonUser] in
                var permissions = Permissions(directNetwork: true, jit: true)
                let scene = try Scene()
                permissions.read = [scene.folder.file("readable"), "/usr/bin"]
                permissions.write = [scene.folder.file("writable")]
                let limits = WorkerLimits(processes: 4)
                try await withEscapes(daemonUser, permissions, limits, scene) { daemon, scene in
                    for permitted in Escape.permitted {
                        let answer = try await daemon.attempt(
                            permitted.act,
                            scene.arguments(permitted)
                        )
                        #expect(answer == "done", "\(permitted.act) \(permitted.path): \(answer)")
                    }
                    let made = try File.read(scene.folder.file("writable/made"))
                    #expect(made == Array("x".utf8))
                    // What it wrote belongs to the daemon's user, as all of its state does.
                    var status = stat()
                    #expect(lstat(scene.folder.file("writable/made"), &status) == 0)
                    #expect(status.st_uid == geteuid())
                }
            }
        }

        // The kernel starts the loader for each program that is granted, so it can be started.
        @Test(.timeLimit(.minutes(5)), arguments: DaemonUser.allCases)
        func `The dynamic loader starts no program that is not granted`(daemonUser: DaemonUser)
            async
        {
            await #expect(processExitsWith: .success) { [daemonUser] in
                let limits = WorkerLimits(processes: 4)
                for grantsPrograms in [false, true] {
                    var permissions = Permissions()
                    let scene = try Scene()
                    permissions.read = [scene.folder.file("readable")]
                    if grantsPrograms { permissions.read.append("/usr/bin") }
                    try await withEscapes(daemonUser, permissions, limits, scene) { daemon, _ in
                        for act in ["start_program", "load_program"] {
                            let answer = try await daemon.attempt(act, #","path":"/usr/bin/true""#)
                            #expect((answer == "done") == grantsPrograms, "\(act): \(answer)")
                        }
                        // What it may map as code is its libraries and its own.
                        #expect(try await daemon.attempt("own_thread") == "done")
                    }
                }
            }
        }

        @Test(
            .timeLimit(.minutes(5)),
            arguments: ["call_of_32_bits", "call_of_x32"]
        )
        func `A call of another architecture ends the worker`(act: String) async {
            await #expect(processExitsWith: .success) { [act] in
                try await withEscapes(.root) { daemon, _ in
                    let run = try await daemon.run("escape", #"{"act":"\#(act)"}"#)
                    #expect(run.outcome == .crashed(.signalled(SIGSYS)), "\(run)")
                    let next = try await daemon.attempt("own_signal")
                    #expect(next == "done", "\(next)")
                }
            }
        }

        @Test(.timeLimit(.minutes(5)), arguments: DaemonUser.allCases)
        func `Two plugins do not reach each other`(daemonUser: DaemonUser) async {
            await #expect(processExitsWith: .success) { [daemonUser] in
                try await withEscapes(daemonUser, neighbours: true) { daemon, _ in
                    #expect(try await daemon.attempt("own_signal", task: "neighbour") == "done")
                    let neighbour = try #require(await daemon.workers(of: "neighbour").first)
                    for act in ["signal_process", "trace", "read_memory", "process_memory"] {
                        let answer = try await daemon.attempt(act, #","number":\#(neighbour)"#)
                        #expect(answer != "done", "\(act): \(answer)")
                    }
                    #expect(await daemon.workers(of: "neighbour") == [neighbour])
                }
            }
        }
    }
}

/// The user who runs the daemon.
enum DaemonUser: String, Codable, CaseIterable, CustomTestStringConvertible {
    case root
    case ordinary

    var testDescription: String { rawValue }

    /// Becomes that user, for the rest of the process.
    func enter() throws {
        guard self == .ordinary, geteuid() == 0 else { return }
        let user: uid_t = 54_321
        try #require(setgroups(0, nil) == 0)
        try #require(setregid(user, user) == 0)
        try #require(setreuid(user, user) == 0)
    }
}

/// The files and sockets around a daemon whose plugin tries to leave its sandbox.
final class Scene: Sendable {
    let folder: TemporaryDirectory
    /// A folder that the manifest does not grant, outside the private `/tmp` of the worker.
    let outside: String
    /// A socket that listens on loopback.
    let port: UInt16
    private let listener: Int32

    init() throws {
        folder = try TemporaryDirectory()
        chmod(folder.path, 0o755)
        var template = Array("/var/tmp/bghost-test-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        let bytes = template.dropLast().map(UInt8.init(bitPattern:))
        outside = String(decoding: bytes, as: UTF8.self)
        try File.write(Array("secret".utf8), to: outside + "/secret")
        chmod(outside + "/secret", 0o666)
        for name in ["readable", "writable", "place"] { mkdir(folder.file(name), 0o755) }
        try folder.write("text", to: "readable/text")
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { raw in
                bind(listener, raw.baseAddress, size) == 0
                    && getsockname(listener, raw.baseAddress, &size) == 0
            }
        }
        try #require(bound && listen(listener, 16) == 0)
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
    }

    deinit {
        close(listener)
        unlink(outside + "/secret")
        rmdir(outside)
    }

    /// Hands it all to the user that this process becomes.
    func give(to daemonUser: DaemonUser) {
        guard daemonUser == .ordinary, geteuid() == 0 else { return }
        let user: uid_t = 54_321
        for name in ["", "/readable", "/readable/text", "/writable", "/place"] {
            chown(folder.path + name, user, user)
        }
        chown(outside, user, user)
        chown(outside + "/secret", user, user)
    }

    func arguments(_ escape: Escape) -> String {
        let path = escape.path.replacing("SCENE", with: folder.path)
            .replacing("OUTSIDE", with: outside)
        let number =
            switch escape.number {
            case .none: 0
            case .daemon: Int(getpid())
            case .port: Int(port)
            }
        return #","path":"\#(path)","number":\#(number)"#
    }
}

extension RunningHost {
    /// Has the plugin do something: "done", or the name of the error that stopped it.
    fileprivate func attempt(
        _ act: String,
        _ arguments: String = "",
        task: String = "escape"
    ) async throws -> String {
        let run = try await run(task, #"{"act":"\#(act)"\#(arguments)}"#)
        return run.outcome == .succeeded ? run.message : "\(run.outcome?.text ?? "") \(run.message)"
    }
}

private func withEscapes(
    _ daemonUser: DaemonUser,
    _ permissions: Permissions = Permissions(),
    _ limits: WorkerLimits = WorkerLimits(),
    _ given: Scene? = nil,
    neighbours: Bool = false,
    adjust: @escaping (inout HostConfiguration) -> Void = { _ in },
    _ body: (RunningHost, Scene) async throws -> Void
) async throws {
    let scene = try given ?? Scene()
    // It says that its libraries lie where secrets do, which must not open these to it.
    let library = try Fixture.library("escape", flags: ["-Wl,-rpath,/etc:/root:/"])
    scene.give(to: daemonUser)
    try daemonUser.enter()
    ProcessShield.raise()
    var manifest = Manifest()
    for name in neighbours ? ["escape", "neighbour"] : ["escape"] {
        manifest.plugins.append(
            PluginDefinition(
                name: name,
                library: library,
                permissions: permissions,
                limits: limits
            )
        )
        manifest.tasks.append(try TestManifest.task(name, name, "try", nil))
    }
    try await withDaemon(manifest, folder: scene.folder, adjust: adjust) { daemon in
        try await body(daemon, scene)
    }
}
