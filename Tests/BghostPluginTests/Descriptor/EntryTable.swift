// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import CBghost
import Glibc

/// What the entry function of a fixture returns, in this process.
struct EntryTable {
    struct LoadError: Error {
        var message: String
    }

    /// Whatever the plugin says, not to be followed.
    var pointer: UnsafeRawPointer?

    init(_ fixture: String, defines: [String] = []) throws {
        try self.init(path: Fixture.library(fixture, defines: defines))
    }

    init(path: String) throws {
        // Never closed again, as in the host.
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE),
            let symbol = dlsym(library, BG_ENTRY_NAME)
        else {
            throw LoadError(message: dlerror().map { String(cString: $0) } ?? "")
        }
        typealias Entry = @convention(c) (UnsafePointer<bg_host>?) -> UnsafePointer<bg_plugin>?
        pointer = UnsafeRawPointer(unsafeBitCast(symbol, to: Entry.self)(nil))
    }
}
