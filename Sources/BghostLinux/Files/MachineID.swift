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

/// The id of this boot of the machine: the kernel makes a random one at each.
package enum BootID {
    /// The id, a UUID as text; `nil` where the kernel does not show it.
    package static func read() -> String? {
        let file = SmallFile.read("/proc/sys/kernel/random/boot_id", bytesMax: 64)
        guard case .success(let bytes) = file else { return nil }
        let text = String(decoding: bytes, as: UTF8.self).prefix { $0.isHexDigit || $0 == "-" }
        return text.utf8.count == 36 ? String(text) : nil
    }
}
