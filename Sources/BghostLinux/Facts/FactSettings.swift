// SPDX-License-Identifier: Apache-2.0

package import BghostFacts

/// Where this machine's facts are read from.
package struct FactSettings: Sendable {
    /// The folder of the kernel's power supplies.
    var powerSupplies = PowerSupplies.usualRoot
    /// The server that monitors the UPS; `nil` if there is none.
    package var ups: UPSMonitor.Address?
    /// The names of metered links; `nil` if the operator has not set them.
    package var meteredLinks: [String]?
    /// The folder of the kernel's pressure files.
    var pressure = "/proc/pressure"
    /// The folder whose file system must have free space: the folder of the daemon's state.
    var storage: String
    /// The probes, in the order of their bits; those after the eighth are ignored.
    package var probes: [ProbeDefinition] = []

    package init(storage: String) {
        self.storage = storage
    }

    /// Creates only the sources for the wanted requirements, so that other facts cost nothing.
    ///
    /// - Parameters:
    ///   - wanted: every requirement of any task.
    ///   - spawner: starts the probes; it must outlive the sources.
    package func sources(for wanted: RequirementSet, spawner: Spawner) -> [any FactSource] {
        var sources: [any FactSource] = []
        if !wanted.isDisjoint(with: [.externalPower, .batteryNotLow]) {
            // Some sandboxes refuse it; the supplies are then read more often.
            let signal = try? Uevents(subsystem: "power_supply")
            sources.append(PowerSupplies.source(root: powerSupplies, signal: signal))
            if let ups { sources.append(UPSMonitor.source(ups)) }
        }
        if !wanted.isDisjoint(with: [.network, .unmetered]) {
            sources.append(NetworkSource(metered: meteredLinks))
        }
        if wanted.contains(.idle) { sources.append(Pressure(root: pressure)) }
        if wanted.contains(.storage) { sources.append(FreeSpace.source(folder: storage)) }
        for (index, probe) in probes.prefix(FactSheet.probesMax).enumerated()
        where wanted.contains(.probe(index)) {
            sources.append(ProbeSource(.probe(index), probe, spawner: spawner))
        }
        return sources
    }
}
