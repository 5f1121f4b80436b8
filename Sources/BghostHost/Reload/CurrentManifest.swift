// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import Glibc

/// The manifest that is in force.
///
/// Only `ManifestReloader` replaces it; the configuration contains the first one. Use it on the reactor's
/// thread only.
final class CurrentManifest {
    private(set) var value: Manifest
    /// The number of manifests that were in force before.
    private(set) var replacements = 0

    init(_ first: Manifest) {
        value = first
    }

    /// Replaces the manifest, and returns the one before.
    func replace(with manifest: Manifest) -> Manifest {
        defer {
            value = manifest
            replacements += 1
        }
        return value
    }
}

extension Manifest {
    /// The number of concurrent runs on this machine.
    var slots: Int {
        // With one slot, a single run would block all others.
        host.slots ?? max(2, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    }
}
