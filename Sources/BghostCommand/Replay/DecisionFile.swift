// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostBase
internal import BghostDispatch
internal import BghostHost
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import Glibc

/// Writes a decision journal on a thread of its own.
///
/// The first failed write ends it, and so does a disk that is too slow; both are logged, and the daemon continues. A
/// journal with a gap could not be replayed.
final class DecisionFile: DecisionRecorder {
    /// The memory for decisions that wait for the disk, bytes: at 1 KiB each, a minute of 1,000 decisions a second.
    private static let waitingMax = 64 << 20

    private let file: LineFile

    /// Creates the file, with read permission for its owner only: it contains the parameters of requests.
    init(_ path: String, log: HostLog) throws(CommandFailure) {
        let fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard fd >= 0 else {
            throw CommandFailure(
                .taken,
                "cannot make \(path): \(String(cString: strerror(errno)))",
                fix: "name a new file with --record"
            )
        }
        file = LineFile(path, file: fd, waitingMax: Self.waitingMax) { ending in
            log.write(.error, "journal.failed", Self.sentence(ending, path))
        }
    }

    func begin(_ settings: Scheduler.Settings) {
        let header = DecisionJournal.header(settings, version: BghostVersion.text)
        file.append(holding: 0) { try DecisionJournal.encode(header) }
    }

    func add(_ inputs: [SchedulerInput.Entry], _ effects: [SchedulerEffect]) {
        guard !inputs.isEmpty || !effects.isEmpty, file.isAccepting else { return }
        let held =
            inputs.reduce(0) { $0 + $1.input.heldBytes }
            + effects.reduce(0) { $0 + $1.heldBytes }
        file.append(holding: held) {
            try DecisionJournal.encode(
                DecisionJournal.Line(inputs: inputs, effects: effects.map(\.fingerprint))
            )
        }
    }

    /// Waits until all lines are written.
    func finish() async { await file.finish() }

    private static func sentence(_ ending: LineFile.Ending, _ path: String) -> String {
        let path = PrintableText.escaped(path)
        let (cause, remedy, isWhole) =
            switch ending {
            case .failed(let error, let isWhole):
                (error, "make room or name another disk", isWhole)
            case .behind(let waiting):
                (
                    "\(waiting >> 20) MiB of decisions wait for its disk, the most is"
                        + " \(waitingMax >> 20)", "name a faster disk", true
                )
            }
        return "the recording \(path) ends here: \(cause); `bghost replay` reads what it has"
            + (isWhole ? "" : ", without its last line, of which a part is missing")
            + "; for another recording, \(remedy), and restart bghost with `--record` and a new file"
    }
}
