// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostSandbox
internal import BghostServices

extension PluginRegistry {
    /// Logs a warning if the system's descriptor limit is below the plugin's.
    func warnAboutDescriptorLimit(of plugin: PluginSlot) {
        guard plugin.isolation == .worker,
            let message = DescriptorLimit.warning(plugin.limits, slotCount: plugin.slotCount)
        else { return }
        log.write(.warning, "plugin.descriptors", message, plugin: plugin.name)
    }
}
