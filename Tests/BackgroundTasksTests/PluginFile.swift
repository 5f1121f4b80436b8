// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import Glibc
import Testing

/// A plugin in a file, loaded as a host loads it.
struct PluginFile {
    private let entry: @convention(c) (HostTable?) -> PluginTable?

    init(_ path: String) throws {
        let image: UnsafeMutableRawPointer? = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)
        let reason = dlerror().map { String(cString: $0) } ?? ""
        let loaded = try #require(image, "\(reason)")
        let symbol: UnsafeMutableRawPointer? = dlsym(loaded, "bghost_plugin_v1")
        entry = unsafeBitCast(
            try #require(symbol, "\(path) does not export the entry point"),
            to: (@convention(c) (HostTable?) -> PluginTable?).self
        )
    }

    func open(on host: ScriptedHost = ScriptedHost(), config: String = "{}") throws -> TestPlugin {
        try TestPlugin(host, entry(host.opaque), config: config)
    }
}

/// `BG_NOTE("abi=1.0;runtime=swift;params=checked")` as the C compiler lays it out.
let noteBytes: [UInt8] =
    [7, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0]
    + Array("bghost\0\0abi=1.0;runtime=swift;params=checked\0\0\0\0".utf8)
