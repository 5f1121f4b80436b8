// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The keys that say how the log is written.
extension ManifestKeys {
    static let log = ManifestSection(
        noun: "section `log`",
        keys: [
            ManifestKey(
                "file",
                .text(.path),
                """
                The file of the log, relative to the state directory or absolute; without it, the log \
                goes to the journal or to stderr only.
                """
            ),
            ManifestKey(
                "format",
                .word(LogSettings.Format.allCases.map(\.rawValue), reserved: []),
                default: "\"json\"",
                "The format of its lines; `bghost logs` cannot read lines of text again."
            ),
            ManifestKey(
                "maxSize",
                .size(mebibyte...1024 * 1024 * mebibyte),
                default: "\"64MiB\"",
                "How long the file may become; then it is renamed, and the next one begins."
            ),
            ManifestKey(
                "files",
                .whole(0...50),
                default: "5",
                "How many renamed files are kept beside it."
            ),
            ManifestKey(
                "runs",
                .word(LogSettings.Runs.allCases.map(\.rawValue), reserved: []),
                default: "\"all\"",
                """
                Which lines about ended runs are written: all, failures, or with summary the number of \
                the runs of a plugin that succeeded, where there are more than ten in a second.
                """
            ),
            ManifestKey(
                "rate",
                .whole(1...1_000_000),
                default: "1000",
                "How many lines of one plugin are written in a second; the others are counted."
            ),
        ]
    )
}
