// SPDX-License-Identifier: Apache-2.0

internal import BghostConfiguration
internal import BghostModel

/// Which code the executors run.
extension WorkerPool {
    /// The origin of the code that an executor runs, under the current manifest.
    func origin(of executor: any RunExecutor) -> RunOrigin? {
        guard let origin = executor.origin, origin.manifest != configuration.manifest.digest else {
            return executor.origin
        }
        noteOrigin(of: executor, version: origin.version)
        return executor.origin
    }

    /// Records the origin of an executor's code.
    ///
    /// Executors with the same code share one object.
    func noteOrigin(of executor: any RunExecutor, version: String) {
        let origin = RunOrigin(
            version: version,
            library: executor.libraryDigest,
            manifest: configuration.manifest.digest
        )
        if executor.plugin.origin != origin { executor.plugin.origin = origin }
        executor.origin = executor.plugin.origin
    }
}
