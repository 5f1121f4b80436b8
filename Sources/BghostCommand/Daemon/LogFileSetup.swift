// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostBase
internal import BghostLogFiles
internal import BghostModel
internal import BghostServices

/// Connects the log with its files.
enum LogFileSetup {
    static func files(_ stateDirectory: String, _ options: RunOptions) -> LogFiles {
        LogFiles(
            stateDirectory: stateDirectory,
            allowsUntrustedFiles: options.allowsUntrustedFiles
        )
    }

    /// Makes the log say when its file cannot be written, and when it can again.
    static func report(problemsOf files: LogFiles, to log: HostLog) {
        // The log holds the files, so they must not hold the log.
        files.onProblem { [weak log] problem in
            if let problem {
                log?.write(.error, "log.file_failed", "the log's file is not written: \(problem)")
            } else {
                log?.write(.info, "log.file_back", "the log's file is written again")
            }
        }
    }

    /// Begins to write the file; the state directory must be locked.
    static func begin(_ files: LogFiles, _ settings: LogSettings, _ log: HostLog) throws {
        do throws(LogFileError) {
            try files.prepare(settings)
        } catch {
            throw CommandFailure(.badManifest, PrintableText.escaped(error.description))
        }
        log.apply(settings)
    }
}
