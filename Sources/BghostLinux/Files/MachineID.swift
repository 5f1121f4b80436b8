// SPDX-License-Identifier: Apache-2.0

/// The id of this machine, which stays the same until its system is reinstalled.
package enum MachineID {
    /// The id of machine-id(5), 32 hex digits; `nil` where there is none, as in some containers.
    package static func read() -> String? {
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"] {
            guard case .success(let bytes) = SmallFile.read(path, bytesMax: 64) else { continue }
            let text = String(decoding: bytes, as: UTF8.self).prefix { $0.isHexDigit }
            if text.utf8.count == 32 { return String(text) }
        }
        return nil
    }
}
