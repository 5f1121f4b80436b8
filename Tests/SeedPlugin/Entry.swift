// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
internal import Seed001Stormy

/// The app of the first article, as a library that a daemon loads.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { seed001Stormy.table(for: host) }
