// SPDX-License-Identifier: Apache-2.0

package import BghostCore

/// Where facts are read on this machine.
package struct FactSettings: Sendable {
    /// The folder of the kernel's power supplies.
    package var powerSupplies = PowerSupplies.usualRoot
    /// The server that knows the UPS; `nil` if there is none.
    package var ups: UPSMonitor.Address?
    /// The names of links that cost by the byte; `nil` if nobody has said.
    package var meteredLinks: [String]?
    /// The folder of the kernel's pressure files.
    package var pressure = "/proc/pressure"
    /// The folder whose file system must have space: that of the daemon's state.
    package var storage: String
    /// The probes, in the order of their bits; what comes after the eighth is left out.
    package var probes: [ProbeDefinition] = []

    package init(storage: String) {
        self.storage = storage
    }

    /// The sources of what is wanted, and no others: what nobody requires costs nothing.
    ///
    /// - Parameters:
    ///   - wanted: all that some task requires.
    ///   - spawner: starts the probes; it must outlive the sources.
    package func sources(for wanted: RequirementSet, spawner: Spawner) -> [any FactSource] {
        var sources: [any FactSource] = []
        if !wanted.isDisjoint(with: [.externalPower, .batteryNotLow]) {
            // Refused in some sandboxes; the supplies are then looked at more often.
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
