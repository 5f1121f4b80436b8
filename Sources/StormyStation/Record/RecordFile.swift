// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
package import SystemPackage

/// A file that gets one line of JSON for each thing that reached the station.
///
/// A line reads `{"kind":"photo","entry":{…}}`. The file is complete up to the last answer even if
/// the station is killed, and stops growing at a bound.
package final class RecordFile: Sendable {
    private let descriptor: FileDescriptor
    private let bytesMax: Int64

    /// Opens the file for appending and makes it, readable by its owner only, if it is not there.
    ///
    /// - Parameter bytesMax: beyond this size nothing more is appended.
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
        try? descriptor.close()
    }

    private struct Line<Entry: Encodable>: Encodable {
        var kind: String
        var entry: Entry
    }

    /// A failure is not reported: the record in memory is the one that counts.
    func append(_ kind: String, _ entry: some Encodable) {
        guard var line = try? RecordCoding.encoder().encode(Line(kind: kind, entry: entry)),
            let size = try? descriptor.seek(offset: 0, from: .end), size < bytesMax
        else { return }
        line.append(UInt8(ascii: "\n"))
        // One write per line: O_APPEND then keeps the lines of two threads apart.
        _ = try? line.withUnsafeBytes { try descriptor.write($0) }
    }
}
