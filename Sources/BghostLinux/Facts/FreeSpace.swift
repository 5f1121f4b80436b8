// SPDX-License-Identifier: Apache-2.0

package import BghostFacts
internal import Glibc

/// Measures the free space of the file system that contains a folder.
package enum FreeSpace {
    /// Creates a source that measures every 30 s.
    static func source(folder: String) -> PolledSource {
        PolledSource(.storage, name: folder, take: { [read(folder)] })
    }

    /// Measures once.
    ///
    /// It may block for as long as the file system does.
    package static func read(_ folder: String) -> FactReading {
        var info = statvfs()
        guard statvfs(folder, &info) == 0 else {
            let error = SystemError("look at the file system of", folder, code: errno)
            return FactReading(.storage, .unknown, text: error.description, source: folder)
        }
        // Blocks reserved for root are neither free nor used: the percentage refers to the space
        // that other users can have.
        let used = info.f_blocks >= info.f_bfree ? info.f_blocks - info.f_bfree : 0
        let (usable, isTooLarge) = used.addingReportingOverflow(info.f_bavail)
        guard usable > 0, !isTooLarge else {
            return FactReading(.storage, .unknown, text: "it has no size", source: folder)
        }
        let percent = Double(info.f_bavail) / Double(usable) * 100
        let (bytes, isHuge) = UInt64(info.f_bavail)
            .multipliedReportingOverflow(by: UInt64(info.f_frsize))
        return FactReading(
            .storage,
            .space(percent: percent, bytes: isHuge ? .max : bytes),
            text: "free=\(Int(percent))% \((isHuge ? .max : bytes) >> 20) MiB",
            source: folder
        )
    }
}
