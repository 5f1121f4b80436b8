// SPDX-License-Identifier: Apache-2.0

import BghostManifest

/// Values that are too large, too small or in another notation.
extension ManifestErrorTests {
    static let quantities = [
        Bad(.bareNumber, task("\"every\": ▶30"), label: "write \"30s\""),
        Bad(.bareNumber, task("\"limits\": { \"grace\": ▶-1 }"), label: "write \"30s\""),
        Bad(
            .bareNumber,
            plugin("\"limits\": { \"memory\": ▶134217728 }"),
            label: "write \"128MiB\""
        ),
        Bad(.bareNumber, plugin("\"limits\": { \"output\": ▶1.5 }"), label: "write \"128MiB\""),
        Bad(.badDuration, task("\"every\": ▶\"30\""), label: "did you mean \"30s\"?"),
        Bad(.badDuration, task("\"every\": ▶\"30 s\""), label: "did you mean \"30s\"?"),
        Bad(.badDuration, task("\"every\": ▶\"30sec\""), label: "did you mean \"30s\"?"),
        Bad(.badDuration, task("\"every\": ▶\"5Minutes\""), label: "did you mean \"5m\"?"),
        Bad(.badDuration, task("\"every\": ▶\"1.5h\""), label: "did you mean \"90m\"?"),
        Bad(.badDuration, task("\"every\": ▶\"\""), label: "a duration from 1s to 366d is needed"),
        Bad(.badDuration, task("\"every\": ▶\"-1s\"")),
        Bad(.badDuration, task("\"every\": ▶\"1h30m\"")),
        Bad(.badDuration, task("\"every\": ▶\"10µs\"")),
        Bad(.badDuration, task("\"every\": ▶\"１s\"")),
        Bad(.badDuration, task("\"every\": ▶\"99999999999999999999s\"")),
        Bad(.badDuration, task("\"every\": ▶\"18446744073709551615d\"")),
        Bad(.outOfRange, task("\"every\": ▶\"999ms\"")),
        Bad(.outOfRange, task("\"every\": ▶\"367d\"")),
        Bad(.outOfRange, task("\"limits\": { \"runtime\": ▶\"0ms\" }")),
        Bad(
            .outOfRange,
            task("\"limits\": { \"runtime\": ▶\"25h\" }"),
            label: "a duration from 1ms to 1d is needed"
        ),
        Bad(
            .outOfRange,
            task("\"limits\": { \"grace\": ▶\"601s\" }"),
            label: "a duration from 1ms to 10m is needed"
        ),
        Bad(
            .badSize,
            plugin("\"limits\": { \"memory\": ▶\"128M\" }"),
            label: "did you mean \"128MiB\"?"
        ),
        Bad(
            .badSize,
            plugin("\"limits\": { \"memory\": ▶\"128mib\" }"),
            label: "did you mean \"128MiB\"?"
        ),
        Bad(
            .badSize,
            plugin("\"limits\": { \"memory\": ▶\"0.5GiB\" }"),
            label: "did you mean \"512MiB\"?"
        ),
        Bad(.badSize, plugin("\"limits\": { \"memory\": ▶\"lots\" }")),
        Bad(.badSize, plugin("\"limits\": { \"memory\": ▶\"99999999999GiB\" }")),
        Bad(.badShare, plugin("\"limits\": { \"cpuQuota\": ▶\"half\" }")),
        Bad(
            .badShare,
            plugin("\"limits\": { \"cpuQuota\": ▶\"50\" }"),
            label: "did you mean \"50%\"?"
        ),
        Bad(
            .bareNumber,
            plugin("\"limits\": { \"cpuQuota\": ▶50 }"),
            label: "write \"50%\""
        ),
        Bad(
            .outOfRange,
            plugin("\"limits\": { \"cpuQuota\": ▶\"4%\" }"),
            label: "a share from 5% to 100000% is needed"
        ),
        Bad(
            .outOfRange,
            plugin("\"limits\": { \"memory\": ▶\"1kB\" }"),
            label: "a size from 1MiB to 1024GiB is needed"
        ),
        Bad(.outOfRange, plugin("\"limits\": { \"result\": ▶\"1MiB\" }")),
        Bad(.outOfRange, host("\"slots\": ▶0")), Bad(.outOfRange, host("\"slots\": ▶4.5")),
        Bad(.outOfRange, host("\"slots\": ▶1e300")), Bad(.outOfRange, task("\"priority\": ▶1001")),
        Bad(.outOfRange, task("\"priority\": ▶-1")),
        Bad(.outOfRange, plugin("\"runsPerWorker\": ▶0")),
        Bad(.outOfRange, plugin("\"prestart\": ▶65")),
        Bad(.outOfRange, plugin("\"limits\": { \"descriptors\": ▶3 }")),
        Bad(.outOfRange, plugin("\"limits\": { \"processes\": ▶99999999999999999999 }")),
        Bad(.unknownWord, task("\"kind\": ▶\"refesh\""), label: "did you mean \"refresh\"?"),
        Bad(.unknownWord, task("\"overlap\": ▶\"Queue\""), label: "did you mean \"queue\"?"),
        Bad(
            .unknownWord,
            host("\"require\": [\"seccomp\", ▶\"landlok\"]"),
            label: "did you mean \"landlock\"?"
        ),
        Bad(
            .unknownWord,
            plugin("\"require\": [▶\"mount\"]"),
            label: "did you mean \"mounts\"?"
        ),
        Bad(
            .unknownWord,
            plugin("\"isolation\": ▶\"container\""),
            label: "\"worker\" or \"in-process\" is needed"
        ),
    ]

    /// More than a frame to a worker can hold.
    static let manyPaths: String = {
        let stem = "/usr/" + String(repeating: "d", count: 90)
        let paths: [String] = (0..<400).map { "\"\(stem)\($0)\"" }
        return paths.joined(separator: ", ")
    }()
}
