// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostLinux
import BghostTransferRules
import BghostStore
import BghostTransfer
import Glibc

// The process that the transfers' tests kill.
//
//   transfer-runner download FOLDER URL DELAY   takes over what the journal in the folder holds, or
//   transfer-runner tus FOLDER URL DELAY        begins a transfer of FOLDER/file, and is killed
//                                                after so many nanoseconds; what has ended is said
//                                                and acknowledged; so is that there is no room

/// Says what has ended, and ends the process.
final class Teller: TransferObserver {
    func transferChanged(_ record: TransferRecord) {
        // What came before this process may stand there still while it is tried again.
        let status = record.status
        guard status.state == .retrying, status.fault?.code == .noSpace else { return }
        _ = "no space\n".utf8CString.withUnsafeBytes { write(1, $0.baseAddress, $0.count - 1) }
        exit(0)
    }

    func sessionEnded(_ end: SessionEnd) {
        for record in end.transfers {
            let fault = record.status.fault.map { " \($0)" } ?? ""
            let line = "\(record.status.state)\(fault)\n"
            _ = line.utf8CString.withUnsafeBytes { write(1, $0.baseAddress, $0.count - 1) }
        }
        exit(0)
    }

    func journalFailed(_ error: TransferJournalError) {
        _ = "\(error)\n".utf8CString.withUnsafeBytes { write(2, $0.baseAddress, $0.count - 1) }
        exit(3)
    }
}

let arguments = CommandLine.arguments
guard arguments.count == 5, let delay = UInt64(arguments[4]) else { exit(64) }
let folder = arguments[2]
Killer.start(after: delay)
FileSizeLimit.fail()
let teller = Teller()
let journal = try SQLiteTransferJournal(path: folder + "/journal")
let engine = TransferEngine(journal: journal, observer: teller, random: { _ in 0 }) { _ in
    TransferAccess(writable: [folder], readable: [folder], permits: { _, _ in true })
}
try await engine.recover()
if await engine.list().isEmpty {
    let request = TransferRequest(
        id: RunID(high: 1, low: 1),
        plugin: "p",
        session: "s",
        kind: arguments[1] == "tus" ? .upload(.tus) : .download,
        url: arguments[3],
        file: folder + "/file",
        createdAt: SystemTransferClock().unixNow
    )
    _ = try await engine.create(request)
}
while true { pause() }
