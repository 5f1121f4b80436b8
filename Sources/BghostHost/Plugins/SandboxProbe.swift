// SPDX-License-Identifier: Apache-2.0

package import BghostCore
internal import BghostLinux
internal import BghostWire

/// What stands around a worker on this machine, and what it could do all the same.
package struct SandboxFindings: Equatable, Sendable {
    /// An act that a worker must not be able to do, tried by a real one.
    package struct Trial: Equatable, Sendable {
        package var name: String
        /// Why it failed, such as "Permission denied"; `nil` if nothing stopped it.
        package var refusal: String?

        package init(name: String, refusal: String?) {
            self.name = name
            self.refusal = refusal
        }
    }

    package var layers: [LayerStanding]
    package var trials: [Trial]

    package init(layers: [LayerStanding], trials: [Trial]) {
        self.layers = layers
        self.trials = trials
    }
}

/// Starts a worker that loads nothing, to see what can be put up around it, as for `bghost doctor`.
package struct SandboxProbe: Sendable {
    private let workerPath: String

    package init(workerPath: String) { self.workerPath = workerPath }

    /// Confines a worker as strictly as one of a plugin without permissions.
    ///
    /// - Parameter dataDirectory: a folder such as a plugin's; what it is on decides about one layer.
    package func findings(dataDirectory: String) async -> Result<SandboxFindings, ProbeFailure> {
        // The worker dies with the thread that starts it.
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
        let walls = WorkerWalls(
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
            lanes: 1,
            limits: WorkerRlimits(limits),
            confinement: walls.message,
            isProbe: true,
            hostVersion: HostVersion.text
        )
        do {
            let worker = try ProbeWorker(path: workerPath, walls, library: nil)
            defer { worker.end() }
            var packets = PacketWriter()
            _ = configure.write(to: &packets)
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
