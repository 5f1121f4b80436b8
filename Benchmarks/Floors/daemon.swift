// SPDX-License-Identifier: Apache-2.0

// The smallest daemon that has a Swift task in it: says that it is ready and waits. Built with
// -D FOUNDATION it brings Foundation along.
#if FOUNDATION
    import Foundation
#else
    import Glibc
#endif

@main
struct Daemon {
    static func main() async {
        #if FOUNDATION
            let folder = FileManager.default.currentDirectoryPath
            guard let text = try? JSONEncoder().encode(["folder": folder]), !text.isEmpty else {
                return
            }
        #endif
        await Task { _ = write(1, "ready\n", 6) }.value
        // As the victim of a kill it may be told to spin.
        let spins = CommandLine.argc > 1
        while true { if !spins { pause() } }
    }
}
