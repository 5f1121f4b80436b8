// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostWire

/// A carrier that cannot be had, with a sentence for the run's record.
struct CarrierError: Error, CustomStringConvertible {
    let description: String
    /// Whether the machine lacks something that it may have again, and nobody did anything wrong.
    var isShortage = false
}

/// What the machine lacks for a worker is nobody's fault, and may be there again in a moment.
extension Host {
    /// The kernel would not hold a worker to its quota: that is no fault of its plugin or its runs.
    func giveUpUnheld(_ worker: Worker) {
        let message = "the kernel refused a control group with its limits.cpuQuota"
        pauseForShortage(worker.plugin, message)
        worker.killedFor = message
        for number in worker.runs {
            runs.index(of: number).map { runs[$0]?.record.message = message }
            worker.hasReleased[Lane.of(number)] = true
            handle(.workerLost, of: number)
        }
        retireNow(worker)
    }

    /// Lets a plugin alone for a while whose worker the machine has no means for, longer each time.
    func pauseForShortage(_ plugin: PluginSlot, _ message: String) {
        let shift = UInt64(min(plugin.shortages, HostLimits.shortageDoublingsMax))
        plugin.shortages += 1
        pause(plugin, message, until: now &+ patience.loadBackoff << shift)
    }
}
