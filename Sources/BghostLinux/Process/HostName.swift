// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The name of this machine in its network.
package enum HostName {
    /// The name that the kernel has; "localhost" if it has none.
    package static func read() -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        // A name that is not plain must not reach headers of messages.
        let name = buffer.prefix { $0 > 0x20 && $0 < 0x7F }.map { UInt8(bitPattern: $0) }
        return name.isEmpty ? "localhost" : String(decoding: name, as: UTF8.self)
    }
}
