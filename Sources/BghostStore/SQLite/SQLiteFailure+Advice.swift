// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

extension SQLiteFailure {
    /// What is done with the file that failed, which decides what an operator can do.
    enum Purpose {
        /// The daemon has it open.
        case running
        /// A daemon starts with it.
        case start
        /// `bghost backup` writes it.
        case backup
        /// `bghost restore` has copied it, and checks it.
        case restore
    }

    /// Describes the failure.
    ///
    /// - Parameter doing: the operation, as in "keep a transaction".
    func error(
        _ doing: String,
        in path: String,
        for purpose: Purpose = .running
    ) -> StoreError {
        var why = text
        if systemError != 0 { why += " (\(String(cString: strerror(systemError))))" }
        let advice =
            switch purpose {
            case .running: adviceForRunning
            case .start: adviceForStart
            case .backup: adviceForBackup
            case .restore: adviceForRestore
            }
        return StoreError("cannot \(doing) in \(path): \(why); \(advice)", kind: kind)
    }

    private var isOfDisk: Bool { code & 0xFF == SQLITE_IOERR }

    private var adviceForRunning: String {
        switch kind {
        case _ where code == Self.movedCode:
            "nothing more is accepted, since it would be lost: stop the daemon, put the files back, or"
                + " the newest copy made by `bghost backup` with `bghost restore`, and start it again"
        case .full:
            "free some room on its file system: what is accepted is kept, what ends meanwhile is"
                + " stored then, and new requests are accepted again by themselves"
        case .readOnly:
            "make the file and its folder writable for the daemon's user, then start it again"
        case .corrupt:
            "the file is left as it is: stop the daemon, keep the file and its -wal for"
                + " inspection, and put the newest copy made by `bghost backup` in its place with"
                + " `bghost restore --replace`"
        case .taken:
            "another program has the file open: end it, and use `bghost backup` to get a copy"
                + " that may be looked at"
        case .other where isOfDisk:
            "nothing more is written, since the disk may have lost what it was given: look at"
                + " the kernel's log, then start the daemon again"
        case .other: "the store was left unchanged"
        }
    }

    private var adviceForStart: String {
        switch kind {
        case .full: "free some room on its file system, then start the daemon again"
        case .corrupt:
            "the file is left as it is: keep it and its -wal for inspection, and put the newest copy"
                + " made by `bghost backup` in its place with `bghost restore --replace`"
        case .other where isOfDisk: "look at the kernel's log, then start the daemon again"
        case .readOnly, .taken, .other: adviceForRunning
        }
    }

    private var adviceForBackup: String {
        switch kind {
        case .full:
            "free some room there, or name a folder on another file system; the daemon's own files are"
                + " not affected"
        case .readOnly: "name a folder in which the daemon's user may make files"
        case .corrupt:
            "the daemon's own file is damaged, and is left as it is: stop the daemon, keep the file and"
                + " its -wal for inspection, and put the newest copy that was made before in its place"
                + " with `bghost restore --replace`"
        case .other where isOfDisk: "look at the kernel's log; no copy was written"
        case .taken, .other: "no copy was written"
        }
    }

    private var adviceForRestore: String {
        switch kind {
        case .full:
            "free some room on its file system, and repeat the command; nothing was replaced"
        case .readOnly:
            "make the folder writable for the user of this command, and repeat it; nothing was replaced"
        case .corrupt: "the backup is damaged, and nothing was replaced: restore another one"
        case .other where isOfDisk: "look at the kernel's log; nothing was replaced"
        case .taken, .other: "nothing was replaced"
        }
    }
}
