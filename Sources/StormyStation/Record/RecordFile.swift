// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
package import SystemPackage

/// A file with one line of JSON per entry of the record.
///
/// A line has the form `{"kind":"photo","entry":{…}}`. The file is complete up to the last response even if
/// the station is killed; its size is limited.
package final class RecordFile: Sendable {
    private let descriptor: FileDescriptor
    private let bytesMax: Int64

    /// Opens the file for appending; creates it, readable only by its owner, if it does not exist.
    ///
    /// - Parameter bytesMax: the size from which on nothing is appended, bytes.
    package init(path: String, bytesMax: Int64 = 64 << 20) throws(Errno) {
        do {
            descriptor = try FileDescriptor.open(
                FilePath(path),
                .writeOnly,
                options: [.append, .create, .closeOnExec],
                permissions: [.ownerReadWrite]
            )
        } catch let error as Errno {
            throw error
        } catch {
            throw .ioError
        }
        self.bytesMax = bytesMax
    }

    deinit {
        // Each line was written before; Linux frees the descriptor in any case.
        try? descriptor.close()
    }

    private struct Line<Entry: Encodable>: Encodable {
        var kind: String
        var entry: Entry
    }

    /// Appends an entry; a failure is not reported, because the record in memory is authoritative.
    func append(_ kind: String, _ entry: some Encodable) {
        // The record in memory is what counts, as said above.
        guard var line = try? RecordCoding.encoder().encode(Line(kind: kind, entry: entry)),
            let size = try? descriptor.seek(offset: 0, from: .end), size < bytesMax
        else { return }
        line.append(UInt8(ascii: "\n"))
        // Use one write per line: O_APPEND then prevents that lines of two threads mix.
        _ = try? line.withUnsafeBytes { try descriptor.write($0) }
    }
}
