// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
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

    /// The folders that its plugins may write.
    private(set) var writable: WritableTrees
    private let dataFolder: String

    init(_ first: Manifest, dataFolder: String) {
        value = first
        self.dataFolder = dataFolder
        writable = WritableTrees(first, dataFolder: dataFolder)
    }

    /// Replaces the manifest, and returns the one before.
    func replace(with manifest: Manifest) -> Manifest {
        defer {
            value = manifest
            writable = WritableTrees(manifest, dataFolder: dataFolder)
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
