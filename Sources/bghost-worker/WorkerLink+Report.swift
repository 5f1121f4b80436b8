// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostSandbox
internal import BghostWire
internal import CBghostSystem

extension WorkerLink {
    /// Reports the state of the sandbox, and ends the process if a required layer is missing or the plugin would be root.
    ///
    /// No plugin code is in the process yet, so the daemon can trust the report.
    func report(_ sandbox: WorkerSandbox, _ configuration: Configure) {
        let confined = Confined(
            layers: sandbox.layerStates.map {
                Confined.Layer(bit: $0.layer.bit, state: $0.state.rawValue, detail: $0.detail)
            },
            absent: sandbox.absent,
            trials: configuration.code == .nothing
                ? sandbox.trials.map { Confined.Trial(name: $0.name, error: $0.error) } : []
        )
        send { confined.write(to: &$0) }
        if let refusal = sandbox.refusal, configuration.code != .nothing {
            refuse("sandbox", refusal + "; `bghost doctor` says more")
        }
        let required = SandboxLayer.layers(in: configuration.confinement.required)
        let unmet = required.compactMap { layer -> String? in
            let standing = sandbox.layerStates.first { $0.layer == layer }
            guard standing?.state != .holds else { return nil }
            let detail = standing.map { $0.detail.isEmpty ? $0.state.text : $0.detail }
            return "\(layer.rawValue) (\(detail ?? "not wanted"))"
        }
        guard !unmet.isEmpty, configuration.code != .nothing else { return }
        refuse(
            "sandbox",
            "the manifest requires layers of the sandbox that do not hold here: "
                + unmet.joined(separator: ", ") + "; `bghost doctor` says more"
        )
    }

    /// Reports why the plugin is not loaded, and ends the process.
    func refuse(_ code: String, _ message: String) -> Never {
        let refused = Refused(
            code: code,
            message: String(decoding: message.utf8.prefix(4096), as: UTF8.self)
        )
        bgs_flush_output()
        send { refused.write(to: &$0) }
        WorkerProcess.end()
    }
}
