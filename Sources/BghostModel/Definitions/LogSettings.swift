// SPDX-License-Identifier: Apache-2.0

/// How the daemon writes its log: `host.log`.
package struct LogSettings: Equatable, Sendable {
    /// The format of the file's lines.
    package enum Format: String, CaseIterable, Sendable {
        case json
        case logfmt
        case text

        /// Whether `bghost logs` can read its lines again.
        package var isSearchable: Bool { self != .text }
    }

    /// Which lines about ended runs leave the daemon's memory.
    package enum Runs: String, CaseIterable, Sendable {
        case all
        /// Only those of runs that did not succeed.
        case failures
        /// Of runs that succeeded, the first ones of a second and the number of the others.
        case summary
    }

    /// The path of the file, relative to the state directory or absolute; `nil` writes none.
    package var file: String?
    package var format: Format
    /// A file of this size is renamed, and the next one begins; bytes.
    package var bytesMax: UInt64
    /// How many renamed files are kept.
    package var olderFiles: Int
    package var runs: Runs
    /// How many lines of one plugin go to the journal and the file in one second.
    package var linesPerSecond: Int

    package init(
        file: String? = nil,
        format: Format = .json,
        bytesMax: UInt64 = 64 << 20,
        olderFiles: Int = 5,
        runs: Runs = .all,
        linesPerSecond: Int = 1000
    ) {
        self.file = file
        self.format = format
        self.bytesMax = bytesMax
        self.olderFiles = olderFiles
        self.runs = runs
        self.linesPerSecond = linesPerSecond
    }
}
