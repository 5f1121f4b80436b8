// SPDX-License-Identifier: Apache-2.0

internal import CNIOBoringSSL

/// Random bytes for keys, of the kernel's generator.
package enum RandomBytes {
    /// Waits only until the kernel has gathered its first entropy after it was started.
    package static func make(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        // BoringSSL ends the process if there are none.
        _ = RAND_bytes(&bytes, count)
        return bytes
    }
}
