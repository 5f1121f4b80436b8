// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostPlugin
internal import BghostTrust
internal import BghostWire
internal import Glibc

/// Why a plugin cannot be used.
package struct ProbeFailure: Error, Equatable, Sendable {
    package let message: String
}

/// Loads plugins in throwaway workers to see whether they can be used, as for `bghost check`.
///
/// Neither the caller nor a daemon is in danger from what a plugin does while it is loaded.
package struct PluginProbe: Sendable {
    private let workerPath: String
    private let pluginPath: [String]
    private let manifestDirectory: String
    private let manifest: Manifest
    private let isLax: Bool
    /// Layers of the sandbox without which no plugin may be loaded.
    private var required: Set<SandboxLayer> { manifest.host.require }
    /// How long a plugin may take to load.
    private static let timeout: Int32 = 10_000

    /// - Parameter isLax: whether plugins are taken from places where others could change them.
    package init(
        _ manifest: Manifest,
        workerPath: String,
        pluginPath: [String],
        manifestDirectory: String,
        isLax: Bool
    ) {
        self.manifest = manifest
        self.workerPath = workerPath
        self.pluginPath = pluginPath
        self.manifestDirectory = manifestDirectory
        self.isLax = isLax
    }

    /// Loads a plugin and says what it is.
    ///
    /// - Parameter handlers: those that the manifest wants of it.
    package func look(
        at plugin: PluginDefinition,
        handlers: [String]
    ) async -> Result<String, ProbeFailure> {
        let path: String
        let held: HeldLibrary?
        do {
            path = try LibrarySearch(pluginPath: pluginPath, manifestDirectory: manifestDirectory)
                .find(plugin.library)
            held = try LibraryTrust(plugin, manifest, isLax: isLax).hold(path)
            _ = try PluginImage.inspect(path: path, held: held).requireLoadable()
        } catch {
            return .failure(ProbeFailure(message: "\(error)"))
        }
        let result = await load(
            plugin.name,
            .plugin(path: path, isHeld: held != nil),
            plugin.config,
            plugin.limits,
            plugin.runsPerWorker,
            held,
            SandboxProfile(
                plugin.permissions,
                limits: plugin.limits,
                library: path,
                needed: WorkerWalls.libraries(neededBy: path, held: held),
                dataDirectory: nil,
                required: required.union(plugin.require)
            )
        )
        return result.flatMap { ready in
            let names = ready.handlers.map(\.name)
            if let missing = handlers.first(where: { !names.contains($0) }) {
                let known = names.map { "`\($0)`" }.joined(separator: ", ")
                return .failure(
                    ProbeFailure(message: "it has no handler `\(missing)`; it has \(known)")
                )
            }
            return .success(
                "\(ready.id) \(ready.version), ABI 1, \(names.count) handlers (\(path))"
            )
        }
    }

    /// Binds a function and says that it is there.
    package func look(at function: FunctionDefinition) async -> Result<String, ProbeFailure> {
        await load(
            function.name,
            .function(
                library: function.library,
                symbol: function.symbol,
                signature: function.signature
            ),
            "{}",
            function.limits,
            1,
            nil,
            SandboxProfile(
                Permissions(),
                limits: function.limits,
                library: function.library,
                needed: WorkerWalls.libraries(neededBy: function.library),
                dataDirectory: nil,
                isFunction: true,
                required: required
            )
        ).map { _ in "\(function.symbol) of \(function.library)" }
    }

    private func load(
        _ name: String,
        _ code: Configure.Code,
        _ config: String,
        _ limits: WorkerLimits,
        _ lanes: Int,
        _ held: HeldLibrary?,
        _ profile: SandboxProfile
    ) async -> Result<Ready, ProbeFailure> {
        // The worker dies with the thread that starts it, so one thread sees the whole probe through.
        await withCheckedContinuation { continuation in
            let thread = WorkThread()
            thread.perform {
                continuation.resume(
                    returning: Self.probe(
                        workerPath,
                        profile,
                        Configure(
                            name: name,
                            code: code,
                            dataDirectory: "/tmp",
                            config: config,
                            lanes: UInt16(lanes),
                            limits: WorkerRlimits(limits),
                            confinement: WorkerWalls.none,
                            isProbe: true,
                            hostVersion: HostVersion.text
                        ),
                        held
                    )
                )
                thread.end()
            }
        }
    }

    private static func probe(
        _ workerPath: String,
        _ profile: SandboxProfile,
        _ configure: Configure,
        _ held: HeldLibrary?
    ) -> Result<Ready, ProbeFailure> {
        do {
            let walls = WorkerWalls(profile, user: PluginUsers.ofProbes)
            let worker = try ProbeWorker(path: workerPath, walls, library: held?.descriptor)
            defer { worker.end() }
            var configure = configure
            configure.confinement = walls.message
            var packets = PacketWriter()
            _ = configure.write(to: &packets)
            try worker.send(packets.bytes)
            return try worker.answer(within: timeout, ProbeWorker.readReady)
        } catch let error as SystemError {
            return .failure(ProbeFailure(message: error.description))
        } catch let error as WireError {
            return .failure(
                ProbeFailure(message: "its worker broke the protocol: \(error.sentence)")
            )
        } catch {
            return .failure(ProbeFailure(message: "\(error)"))
        }
    }
}

/// A worker that loads one plugin and is ended.
final class ProbeWorker {
    private static let advice = " look at its constructors, bghost_plugin_v1() and open()"
    private let process: ChildProcess
    private let work: Descriptor
    private let control: Descriptor

    init(path: String, _ walls: WorkerWalls, library: Int32?) throws(SystemError) {
        let (work, childWork) = try PacketSocket.pair()
        self.work = Descriptor(owning: work)
        let (control, childControl) = try PacketSocket.pair()
        self.control = Descriptor(owning: control)
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        let owners = walls.copyOwners()
        defer { for fd in [childWork, childControl, null, owners] { close(fd) } }
        process = ChildProcess(
            try Spawner.spawnHere(
                Spawner.Order(
                    path: path,
                    arguments: ["bghost-worker", String(getpid())],
                    environment: ["LANG=C.UTF-8", "SWIFT_BACKTRACE=enable=no"],
                    descriptors: [null, null, null, childWork, childControl, owners]
                        + (library.map { [$0] } ?? [])
                )
            )
        )
    }

    func send(_ bytes: [UInt8]) throws(SystemError) {
        let error = bytes.withUnsafeBytes { PacketSocket.send(work.raw, $0, wait: true) }
        guard error == 0 else { throw SystemError("speak to a worker", code: error) }
    }

    /// What the worker says, or how it ended instead.
    ///
    /// - Parameter read: the answer in a packet, if that has one.
    func answer<T>(
        within milliseconds: Int32,
        _ read: (RawSpan) throws(WireError) -> Result<T, ProbeFailure>?
    ) throws -> Result<T, ProbeFailure> {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: FrameLayout.packetBytesMax,
            alignment: 16
        )
        defer { buffer.deallocate() }
        let deadline = Monotonic.now + UInt64(milliseconds) * 1_000_000
        while true {
            let now = Monotonic.now
            guard now < deadline, waitForInput(Int32((deadline - now) / 1_000_000) + 1) else {
                return .failure(
                    ProbeFailure(
                        message: "loading it did not come back within \(milliseconds / 1000) s;"
                            + Self.advice
                    )
                )
            }
            let count = PacketSocket.receive(work.raw, buffer, wait: false)
            guard count > 0 else { return .failure(ended()) }
            if let answer = try read(
                UnsafeRawBufferPointer(buffer).bytes.extracting(first: count)
            ) {
                return answer
            }
        }
    }

    private func waitForInput(_ milliseconds: Int32) -> Bool {
        var wanted = pollfd(fd: work.raw, events: Int16(POLLIN), revents: 0)
        return poll(&wanted, 1, milliseconds) > 0
    }

    static func readReady(_ packet: RawSpan) throws(WireError) -> Result<Ready, ProbeFailure>? {
        var reader = PacketReader(packet)
        while let frame = try reader.next() {
            switch frame.kind {
            case .ready: return .success(try Ready(frame))
            case .refused: return .failure(ProbeFailure(message: try Refused(frame).message))
            // What a plugin logs while it is loaded.
            default: continue
            }
        }
        return nil
    }

    private func ended() -> ProbeFailure {
        // Its socket closes before it can be collected.
        var wanted = pollfd(fd: process.pidfd, events: Int16(POLLIN), revents: 0)
        _ = poll(&wanted, 1, 1000)
        guard let end = process.exit else {
            return ProbeFailure(message: "its worker closed its socket while it loaded the plugin")
        }
        let how: ProcessEnd = end.exited ? .exited(end.code) : .signalled(end.code)
        return ProbeFailure(message: "loading it ended its worker (\(how.text));" + Self.advice)
    }

    /// Ends the worker, however it stands.
    func end() {
        process.kill()
        var wanted = pollfd(fd: process.pidfd, events: Int16(POLLIN), revents: 0)
        _ = poll(&wanted, 1, 5000)
        process.giveUp()
        process.collectHere()
    }
}
