// SPDX-License-Identifier: Apache-2.0

/// The keys for the resources and the disk space of a plugin's workers.
extension ManifestKeys {
    static let workerLimits = ManifestSection(
        noun: "section `limits`",
        keys: [
            ManifestKey(
                "memory",
                .size(mebibyte...1024 * 1024 * mebibyte),
                default: "\"256MiB\"",
                """
                Resident memory of a worker. Its runs are asked to stop above it, and killed with it \
                an eighth above that.
                """
            ),
            ManifestKey(
                "cpu",
                .duration(1...day),
                """
                Processor time of one run; without it there is no limit. A run is asked to stop once it \
                is used up, and killed an eighth later.
                """
            ),
            ManifestKey(
                "cpuQuota",
                .share(5...100_000),
                """
                Processor time of each worker as a share of one processor; without it there is no \
                limit. A worker is slowed down to it by the kernel, and must be: where no \
                controller of cgroup v2 is delegated for it, the plugin is not run.
                """
            ),
            ManifestKey(
                "processes",
                .whole(1...4096),
                default: "1",
                "Processes in a worker's tree, the worker included; with 1 it can start none."
            ),
            ManifestKey(
                "descriptors",
                .whole(16...65536),
                default: "64",
                "Open files of a worker."
            ),
            ManifestKey(
                "output",
                .size(kibibyte...1024 * mebibyte),
                default: "\"64KiB\"",
                """
                What one run may write to stdout, stderr and the log; runs that share a worker have \
                theirs together.
                """
            ),
            ManifestKey(
                "result",
                .size(0...96 * kibibyte),
                default: "\"64KiB\"",
                "The payload of one run's result."
            ),
            ManifestKey(
                "data",
                .size(mebibyte...1024 * 1024 * mebibyte),
                default: "\"1GiB\"",
                "What its data directory may hold, and each file that it writes."
            ),
            ManifestKey(
                "files",
                .whole(16...10_000_000),
                default: "100000",
                "Files, folders and links in its data directory."
            ),
        ]
    )
}
