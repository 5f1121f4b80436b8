// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostServices
internal import BghostLinux
package import BghostModel
internal import BghostSandbox
internal import BghostWire

/// The sandbox of a worker on this machine, and the results of attempts to break out of it.
package struct SandboxFindings: Equatable, Sendable {
    /// A forbidden action that a real worker attempted.
    package struct Trial: Equatable, Sendable {
        package var name: String
        /// Why the action failed, such as "Permission denied"; `nil` if it succeeded.
        package var refusal: String?

        init(name: String, refusal: String?) {
            self.name = name
            self.refusal = refusal
        }
    }

    package var layers: [LayerStanding]
    package var trials: [Trial]

    init(layers: [LayerStanding], trials: [Trial]) {
        self.layers = layers
        self.trials = trials
    }
}

/// Starts a worker without a plugin to test which sandbox layers work, as for `bghost doctor`.
package struct SandboxProbe: Sendable {
    private let workerPath: String

    package init(workerPath: String) { self.workerPath = workerPath }

    /// Starts a worker with the sandbox of a plugin without permissions.
    ///
    /// - Parameter dataDirectory: a folder on the file system of the plugins' data, on which one
    ///   layer depends.
    package func findings(dataDirectory: String) async -> Result<SandboxFindings, ProbeFailure> {
        // The kernel kills the worker when the thread that started it exits.
        await withCheckedContinuation { continuation in
            let thread = WorkThread()
            thread.perform {
                continuation.resume(returning: Self.probe(workerPath, dataDirectory))
                thread.end()
            }
        }
    }

    private static func probe(
        _ workerPath: String,
        _ dataDirectory: String
    ) -> Result<SandboxFindings, ProbeFailure> {
        let limits = WorkerLimits()
        let sandboxSpec = SandboxSpec(
            SandboxProfile(
                Permissions(),
                limits: limits,
                library: "",
                dataDirectory: dataDirectory
            ),
            user: PluginUsers.ofProbes
        )
        let configure = Configure(
            name: "doctor",
            code: .nothing,
            dataDirectory: dataDirectory,
            config: "{}",
            slotCount: 1,
            limits: WorkerRlimits(limits, slotCount: 1),
            confinement: sandboxSpec.message,
            isProbe: true,
            hostVersion: BghostVersion.text
        )
        do {
            let worker = try ProbeWorker(path: workerPath, sandboxSpec, libraries: [])
            defer { worker.end() }
            var packets = PacketWriter()
            guard configure.write(to: &packets) else {
                return .failure(
                    ProbeFailure(message: PluginCode.configurationTooLong(configure.name))
                )
            }
            try worker.send(packets.bytes)
            return try worker.answer(within: 10_000, readFindings)
        } catch {
            return .failure(ProbeFailure(message: "no worker could be asked: \(error)"))
        }
    }

    private static func readFindings(
        _ packet: RawSpan
    ) throws(WireError) -> Result<SandboxFindings, ProbeFailure>? {
        var reader = PacketReader(packet)
        while let frame = try reader.next() {
            guard frame.kind == .confined else { continue }
            let confined = try Confined(frame)
            return .success(
                SandboxFindings(
                    layers: confined.layers.compactMap(LayerStanding.init),
                    trials: confined.trials.map {
                        SandboxFindings.Trial(
                            name: $0.name,
                            refusal: $0.error == 0
                                ? nil : SystemError("", code: $0.error).reason
                        )
                    }
                )
            )
        }
        return nil
    }
}
