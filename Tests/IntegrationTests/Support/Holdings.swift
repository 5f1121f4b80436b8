// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc

/// What a process has of the kernel: its open descriptors, its threads and its children.
struct Holdings: Equatable, CustomStringConvertible {
    /// What each descriptor is, but which pipe or socket it is.
    var descriptors: [String]
    var threads: Int
    var children: [Int32]

    /// Those of this process.
    init() throws {
        descriptors = try File.list("/proc/self/fd").compactMap { name in
            var target = [CChar](repeating: 0, count: 256)
            let count = readlink("/proc/self/fd/" + name, &target, target.count)
            guard count > 0 else { return nil }
            let bytes = target.prefix(count).map { UInt8(bitPattern: $0) }
            let text = String(decoding: bytes, as: UTF8.self)
            return text.hasPrefix("/") ? text : text.filter { !$0.isNumber }
        }.filter { !$0.hasPrefix("/proc/") }.sorted()
        threads = try File.list("/proc/self/task").count
        children = childPIDs(of: getpid())
    }

    var description: String {
        "\(threads) threads, children \(children), \(descriptors.count) descriptors: "
            + descriptors.joined(separator: ", ")
    }
}
