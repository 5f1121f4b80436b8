// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Finds what the build has made beside the running test binary.
package enum Artifact {
    /// The folder of the test binary, absolute, without a trailing slash.
    package static let directory: String = {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        precondition(count > 0, "/proc is not mounted: tests find their build products through it")
        let path = String(decoding: buffer[..<count], as: UTF8.self)
        return "/" + path.split(separator: "/").dropLast().joined(separator: "/")
    }()

    /// The path of a build product by its exact file name: `bghost-worker`, `libNotifier.so`.
    ///
    /// It need not exist, and products of an earlier build may lie there too: ask only for those
    /// that the test target depends on.
    package static func path(_ name: String) -> String { directory + "/" + name }
}
