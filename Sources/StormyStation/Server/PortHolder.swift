// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage

/// The process that listens on a port, as found in `/proc`.
package struct PortHolder: Equatable, Sendable {
    package var pid: Int32
    package var name: String

    package init(pid: Int32, name: String) {
        self.pid = pid
        self.name = name
    }

    /// - Returns: `nil` if no process listens there, or if the listener belongs to another user, whose
    ///   descriptors cannot be read.
    package static func find(listeningOn port: Int) -> PortHolder? {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap(readAll)
        let links = Set(
            tables.flatMap { inodes(in: $0, listeningOn: port) }.map { "socket:[\($0)]" }
        )
        guard !links.isEmpty else { return nil }
        let holders = Set(
            entries(of: "/proc").compactMap { Int32($0) }.filter { pid in
                let descriptors = "/proc/\(pid)/fd"
                return entries(of: descriptors).contains { descriptor in
                    target(of: "\(descriptors)/\(descriptor)").map(links.contains) ?? false
                }
            }
        )
        // A child process of the listener has all of its descriptors until it executes its program.
        let listener = holders.first { pid in parent(of: pid).map(holders.contains) != true }
        return listener.map { pid in
            let name = readAll("/proc/\(pid)/comm") ?? ""
            return PortHolder(pid: pid, name: name.filter { $0 != "\n" })
        }
    }

    private static func parent(of pid: Int32) -> Int32? {
        let key = "PPid:\t"
        let lines = readAll("/proc/\(pid)/status")?.split(separator: "\n")
        let line = lines?.first { $0.hasPrefix(key) }
        return line.flatMap { Int32($0.dropFirst(key.count)) }
    }

    /// The inodes of listening sockets in a table with the format of `/proc/net/tcp`.
    package static func inodes(in table: String, listeningOn port: Int) -> [String] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            // sl, local address:port, remote, state (0A is LISTEN), five more, inode
            guard columns.count > 9, columns[3] == "0A",
                let colon = columns[1].lastIndex(of: ":"),
                Int(columns[1][columns[1].index(after: colon)...], radix: 16) == port
            else { return nil }
            return String(columns[9])
        }
    }

    private static func readAll(_ path: String) -> String? {
        // The process has ended, or belongs to another user.
        guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
        else { return nil }
        // It was only read.
        defer { try? file.close() }
        var bytes: [UInt8] = []
        while bytes.count < 16 << 20 {
            let part = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                // A file of /proc ends early if its process ends.
                count = (try? file.read(into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
            }
            guard !part.isEmpty else { break }
            bytes += part
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func entries(of directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
            )
        }
        return names
    }

    private static func target(of link: String) -> String? {
        let bytes = [UInt8](unsafeUninitializedCapacity: 256) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { max(0, readlink(link, $0, text.count)) } ?? 0
            }
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
