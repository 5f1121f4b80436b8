// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostServices
internal import BghostLinux
package import BghostModel
internal import BghostSandbox
internal import BghostPlugin
package import BghostSchemas
internal import BghostTrust
internal import BghostWire
internal import Glibc

/// Loads plugins in temporary workers to check whether they can be used, as for `bghost check`.
///
/// The code that a plugin runs during the load can harm neither the caller nor a daemon.
package struct PluginProbe: Sendable {
    private let workerPath: String
    private let pluginPath: [String]
    private let manifestDirectory: String
    private let manifest: Manifest
    private let allowsUntrustedFiles: Bool
    private let dataFolder: String?
    /// The sandbox layers that every plugin requires.
    private var required: Set<SandboxLayer> { manifest.host.require }
    /// The time limit for a load, in milliseconds.
    private static let timeout: Int32 = 10_000

    /// Prepares probes of the plugins of a manifest.
    ///
    /// - Parameters:
    ///   - allowsUntrustedFiles: whether plugins may be in places that other users could change.
    ///   - dataFolder: the folder of the plugins' data directories; `nil` if only the manifest names it.
    package init(
        _ manifest: Manifest,
        workerPath: String,
        pluginPath: [String],
        manifestDirectory: String,
        allowsUntrustedFiles: Bool,
        dataFolder: String? = nil
    ) {
        self.manifest = manifest
        self.dataFolder =
            dataFolder ?? manifest.host.stateDirectory.map { "\($0)/\(StateDirectory.dataName)" }
        self.workerPath = workerPath
        self.pluginPath = pluginPath
        self.manifestDirectory = manifestDirectory
        self.allowsUntrustedFiles = allowsUntrustedFiles
    }

    /// Inspects and loads a plugin, and describes it.
    ///
    /// - Parameter handlers: the handlers that the manifest's tasks use.
    package func check(
        _ plugin: PluginDefinition,
        handlers: [String]
    ) async -> Result<PluginTrial, ProbeFailure> {
        let inspection = inspection(.plugin(plugin))
        let found = await Self.onOwnThread { inspection.findings() }
        return await check(plugin, handlers: handlers, found)
    }

    /// Loads a plugin with the findings of an inspection.
    package func check(
        _ plugin: PluginDefinition,
        handlers: [String],
        _ found: PluginFindings
    ) async -> Result<PluginTrial, ProbeFailure> {
        await load(plugin, found).flatMap { loaded in
            let ready = loaded.ready
            let names = ready.handlers.map(\.name)
            if let missing = handlers.first(where: { !names.contains($0) }) {
                let known = names.map { "`\($0)`" }.joined(separator: ", ")
                return .failure(
                    ProbeFailure(message: "it has no handler `\(missing)`; it has \(known)")
                )
            }
            let schemas = found.checksParameters ? loaded.schemas : HandlerSchemas()
            if let problem = TaskParameters(manifest).problem(of: plugin.name, schemas) {
                return .failure(ProbeFailure(message: problem))
            }
            return .success(
                PluginTrial(
                    text: "\(ready.id) \(ready.version), ABI 1, "
                        + CountText.of(names.count, "handler")
                        + " (\(found.path ?? plugin.library))",
                    schemas: schemas
                )
            )
        }
    }

    /// Loads a plugin for its schemas, with the findings of an inspection; empty if that fails.
    package func schemas(
        of plugin: PluginDefinition,
        _ found: PluginFindings
    ) async -> Result<HandlerSchemas, ProbeFailure> {
        await load(plugin, found).map(\.schemas)
    }

    /// Inspects and loads a plugin.
    ///
    /// - Returns: what its table says of it.
    package func summary(of plugin: PluginDefinition) async -> Result<PluginSummary, ProbeFailure> {
        let inspection = inspection(.plugin(plugin))
        let found = await Self.onOwnThread { inspection.findings() }
        return await load(plugin, found).map {
            PluginSummary(
                id: $0.ready.id,
                version: $0.ready.version,
                handlers: $0.ready.handlers.map(\.name),
                schemas: $0.schemas,
                checksParameters: found.checksParameters
            )
        }
    }

    /// What a temporary worker has reported.
    private struct Loaded {
        var ready: Ready
        var schemas: HandlerSchemas
    }

    private func load(
        _ plugin: PluginDefinition,
        _ found: PluginFindings
    ) async -> Result<Loaded, ProbeFailure> {
        if let problem = found.problem { return .failure(ProbeFailure(message: problem.message)) }
        let path = found.path ?? plugin.library
        let held = found.allHeld
        return await load(
            plugin.name,
            .plugin(
                path: path,
                isHeld: !held.isEmpty,
                heldNeeds: UInt8(clamping: max(0, held.count - 1))
            ),
            plugin.config,
            plugin.limits,
            plugin.runsPerWorker,
            held,
            SandboxProfile(
                plugin.permissions,
                limits: plugin.limits,
                library: path,
                needed: found.libraries.map(\.path),
                dataDirectory: nil,
                writable: WritableTrees(
                    (manifest.plugins + [plugin]).flatMap(\.permissions.write),
                    dataFolder: dataFolder
                ),
                required: required.union(plugin.require)
            )
        )
    }

    /// Inspects a function's library and binds the function.
    package func check(_ function: FunctionDefinition) async -> Result<String, ProbeFailure> {
        let inspection = inspection(.function(function))
        let found = await Self.onOwnThread { inspection.findings() }
        return await check(function, found)
    }

    /// Binds a function with the findings of an inspection of its library.
    package func check(
        _ function: FunctionDefinition,
        _ found: PluginFindings
    ) async -> Result<String, ProbeFailure> {
        if let problem = found.problem { return .failure(ProbeFailure(message: problem.message)) }
        return await load(
            function.name,
            .function(
                library: function.library,
                symbol: function.symbol,
                signature: function.signature
            ),
            "{}",
            function.limits,
            1,
            [],
            SandboxProfile(
                Permissions(),
                limits: function.limits,
                library: function.library,
                needed: found.libraries.map(\.path),
                dataDirectory: nil,
                isFunction: true,
                required: required
            )
        ).map { _ in "\(function.symbol) of \(function.library)" }
    }

    private func inspection(_ code: PluginCode) -> PluginInspection {
        PluginInspection(
            code: code,
            manifest: manifest,
            search: LibrarySearch(pluginPath: pluginPath, manifestDirectory: manifestDirectory),
            allowsUntrustedFiles: allowsUntrustedFiles
        )
    }

    private func load(
        _ name: String,
        _ code: Configure.Code,
        _ config: String,
        _ limits: WorkerLimits,
        _ slotCount: Int,
        _ held: [HeldLibrary],
        _ profile: SandboxProfile
    ) async -> Result<Loaded, ProbeFailure> {
        // The kernel kills the worker when the thread that started it exits, so one thread performs
        // the whole probe.
        await Self.onOwnThread { [workerPath] in
            Self.probe(
                workerPath,
                profile,
                Configure(
                    name: name,
                    code: code,
                    dataDirectory: "/tmp",
                    config: config,
                    slotCount: UInt16(slotCount),
                    limits: WorkerRlimits(limits, slotCount: slotCount),
                    confinement: SandboxSpec.none,
                    isProbe: true,
                    hostVersion: BghostVersion.text
                ),
                held
            )
        }
    }

    private static func onOwnThread<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { continuation in
            let thread = WorkThread()
            thread.perform {
                continuation.resume(returning: work())
                thread.end()
            }
        }
    }

    private static func probe(
        _ workerPath: String,
        _ profile: SandboxProfile,
        _ configure: Configure,
        _ held: [HeldLibrary]
    ) -> Result<Loaded, ProbeFailure> {
        do {
            let sandboxSpec = SandboxSpec(profile, user: PluginUsers.ofProbes)
            let worker = try ProbeWorker(
                path: workerPath,
                sandboxSpec,
                libraries: held.map(\.descriptor)
            )
            defer { worker.end() }
            var configure = configure
            configure.confinement = sandboxSpec.message
            var packets = PacketWriter()
            guard configure.write(to: &packets) else {
                return .failure(
                    ProbeFailure(message: PluginCode.configurationTooLong(configure.name))
                )
            }
            try worker.send(packets.bytes)
            var schemas = HandlerSchemas()
            return try worker.answer(within: timeout) { packet throws(WireError) in
                try ProbeWorker.readReady(packet, &schemas)
            }.map { Loaded(ready: $0, schemas: schemas) }
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

/// A temporary worker that loads one plugin.
final class ProbeWorker {
    private static let advice = " look at its constructors, bghost_plugin_v1() and open()"
    private let process: ChildProcess
    private let work: Descriptor
    private let control: Descriptor

    init(path: String, _ sandboxSpec: SandboxSpec, libraries: [Int32]) throws(SystemError) {
        let (work, childWork) = try PacketSocket.pair()
        self.work = Descriptor(owning: work)
        let (control, childControl) = try PacketSocket.pair()
        self.control = Descriptor(owning: control)
        var childEnds = [childWork, childControl]
        defer { for fd in childEnds { close(fd) } }
        let null = try Descriptor.null()
        childEnds.append(null)
        let owners = sandboxSpec.copyOwners()
        childEnds.append(owners)
        process = ChildProcess(
            try Spawner.spawnHere(
                Spawner.Order(
                    path: path,
                    arguments: ["bghost-worker", String(getpid())],
                    environment: ["LANG=C.UTF-8", "SWIFT_BACKTRACE=enable=no"],
                    descriptors: [null, null, null, childWork, childControl, owners, null]
                        + libraries
                )
            )
        )
    }

    func send(_ bytes: [UInt8]) throws(SystemError) {
        let error = bytes.withUnsafeBytes { PacketSocket.send(work.raw, $0, wait: true) }
        guard error == 0 else { throw SystemError("speak to a worker", code: error) }
    }

    /// Waits for the worker's answer, or describes how it ended.
    ///
    /// - Parameter read: returns the answer in a packet; `nil` if the packet contains none.
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
            guard now < deadline, waitForInput(Int32(deadline.since(now) / 1_000_000) + 1) else {
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

    /// - Parameter schemas: collects those that come before the answer, compiled on this thread.
    static func readReady(
        _ packet: RawSpan,
        _ schemas: inout HandlerSchemas
    ) throws(WireError) -> Result<Ready, ProbeFailure>? {
        var reader = PacketReader(packet)
        while let frame = try reader.next() {
            switch frame.kind {
            case .declared:
                let declared = try Declared(frame)
                schemas.add(declared.schema, for: declared.handler)
            case .ready: return .success(try Ready(frame))
            case .refused: return .failure(ProbeFailure(message: try Refused(frame).message))
            // Skip the log lines of a plugin that is loading.
            default: continue
            }
        }
        return nil
    }

    private func ended() -> ProbeFailure {
        // The socket closes before the process can be reaped, so wait for its exit.
        var wanted = pollfd(fd: process.pidfd, events: Int16(POLLIN), revents: 0)
        // `exit` says below whether it has ended.
        _ = poll(&wanted, 1, 1000)
        guard let end = process.exit else {
            return ProbeFailure(message: "its worker closed its socket while it loaded the plugin")
        }
        let how: ProcessEnd = end.exited ? .exited(end.code) : .signalled(end.code)
        return ProbeFailure(message: "loading it ended its worker (\(how.text));" + Self.advice)
    }

    /// Kills and reaps the worker in any state.
    func end() {
        process.kill()
        var wanted = pollfd(fd: process.pidfd, events: Int16(POLLIN), revents: 0)
        // A killed process that takes longer is reaped as an orphan when the next worker ends.
        _ = poll(&wanted, 1, 5000)
        process.giveUp()
        process.collectHere()
    }
}
