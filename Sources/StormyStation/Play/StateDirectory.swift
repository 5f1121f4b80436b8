// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Glibc

/// A new directory for the daemon's state.
struct StateDirectory: Sendable {
    let path: String

    /// - Returns: `nil` if it cannot be created; `errno` contains the reason.
    init?() {
        // The directory contains the daemon's socket, whose path has at most 107 bytes.
        let custom = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        let base = (1...60).contains(custom.utf8.count) && custom.hasPrefix("/") ? custom : "/tmp"
        var template = Array("\(base)/stormy-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) } != nil
        }
        guard made else {
            return nil
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func remove() {
        // It lies in the temporary folder, and the program ends.
        try? FileManager.default.removeItem(atPath: path)
    }
}
