// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import FoundationEssentials
internal import Glibc

/// A file of defaults in the plugin's data directory.
///
/// Each change replaces the whole file, and is on the disk when the call returns. Several workers
/// of a plugin may change it concurrently: a lock orders them.
struct DefaultsFile: Sendable {
    /// The identity and state of the file: if the value differs, the file was changed.
    struct Version: Equatable {
        let inode: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    private struct Content: Codable {
        var version = 1
        var values: [String: PropertyValue]
    }

    /// A failed system call.
    private struct Failure: Error, CustomStringConvertible {
        let call: String
        let code = errno

        var description: String { "\(call): \(String(cString: strerror(code)))" }
    }

    /// The number of attempts to get the lock, each 10 ms after the one before: a worker that is frozen while
    /// it holds the lock must not block the others for ever.
    ///
    /// After them a change goes on without the lock and may replace one of another worker. On a busy
    /// machine with a slow disk, a second of attempts was not enough for three workers.
    private static let lockTries = 1000

    private let folder: String
    private let path: String

    init(_ directory: String, suite: String?) {
        folder = directory + "/Preferences"
        path = folder + "/" + (suite.map { "suite." + Self.fileName($0) } ?? "standard") + ".json"
    }

    /// The current version, to detect changes by other processes; `nil` if there is no file.
    var version: Version? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Version(status)
    }

    /// Reads the values; empty if there is no file.
    ///
    /// - Throws: if the file cannot be read, or is damaged.
    func read() throws -> [String: PropertyValue] {
        guard access(path, F_OK) == 0 else { return [:] }
        let data = try Data(contentsOf: URL(filePath: path))
        return try JSONDecoder().decode(Content.self, from: data).values
    }

    /// Changes the current content of the file.
    ///
    /// - Returns: the new content and its version.
    func change(
        _ body: (inout [String: PropertyValue]) -> Void
    ) throws -> ([String: PropertyValue], Version) {
        if mkdir(folder, 0o700) != 0, errno != EEXIST { throw Failure(call: "mkdir \(folder)") }
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw Failure(call: "open \(path).lock") }
        // Closing the descriptor also releases the lock.
        defer { close(lock) }
        let isAlone = Self.take(lock)
        var values: [String: PropertyValue]
        do {
            values = try read()
        } catch {
            // Keep it so that its author can inspect it; the next change would overwrite it.
            _ = rename(path, path + ".damaged")
            Logger().error("defaults in \(path) are damaged, and lie in \(path).damaged: \(error)")
            values = [:]
        }
        body(&values)
        let bytes = try JSONEncoder().encode(Content(values: values))
        // With the lock held, one temporary name suffices, and a file left by a killed worker is
        // overwritten.
        let version = try replace(bytes, by: isAlone ? path + ".new" : "\(path).\(getpid()).new")
        return (values, version)
    }

    private static func take(_ lock: Int32) -> Bool {
        for _ in 0..<lockTries {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK || errno == EINTR else { return false }
            usleep(10_000)
        }
        return false
    }

    /// Writes a new file, and renames it once it is on the disk.
    private func replace(_ bytes: Data, by name: String) throws -> Version {
        let file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Failure(call: "open \(name)") }
        defer { close(file) }
        do {
            try Self.write(bytes, to: file)
            var status = stat()
            guard fsync(file) == 0, fstat(file, &status) == 0 else { throw Failure(call: "fsync") }
            guard rename(name, path) == 0 else { throw Failure(call: "rename \(name)") }
            let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard directory >= 0 else { throw Failure(call: "open \(folder)") }
            defer { close(directory) }
            guard fsync(directory) == 0 else { throw Failure(call: "fsync \(folder)") }
            return Version(status)
        } catch {
            unlink(name)
            throw error
        }
    }

    private static func write(_ bytes: Data, to file: Int32) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(
                    file,
                    UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                    rest.count
                )
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Failure(call: "write") }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// A suite's name as a file name: bytes other than plain characters are escaped.
    private static func fileName(_ suite: String) -> String {
        suite.utf8.prefix(64).map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                String(Unicode.Scalar(byte))
            default: "_" + String(byte, radix: 16)
            }
        }.joined()
    }
}

extension DefaultsFile.Version {
    fileprivate init(_ status: stat) {
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}
