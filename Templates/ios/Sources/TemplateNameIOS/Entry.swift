public import BackgroundTasks

/// The function that the host calls first.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
