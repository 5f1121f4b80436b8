// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
package import BghostModel
package import BghostServices
internal import Glibc

/// Where the log's files are: a small file in the state directory, for a command without a daemon.
package struct LogFileRecord: Equatable, Sendable {
    /// Absolute; `nil` if there is no file.
    package var file: String?
    package var format: LogSettings.Format

    private static let name = "log-files.json"
    private static let bytesMax = 16 << 10

    init(_ file: String?, _ settings: LogSettings) {
        self.file = file
        format = settings.format
    }

    /// Reads what the last daemon of a state directory wrote.
    ///
    /// - Throws: why there is nothing to read.
    package init(stateDirectory: String) throws(LogFileError) {
        let path = "\(stateDirectory)/\(Self.name)"
        let bytes: [UInt8]
        switch SmallFile.read(path, bytesMax: Self.bytesMax) {
        case .success(let read): bytes = read
        case .failure(let error) where error.code == ENOENT:
            throw LogFileError("no daemon with `host.log.file` has used \(stateDirectory)")
        case .failure(let error): throw LogFileError(error.description)
        }
        // The error below names the file; where its syntax is wrong helps no operator.
        guard let node = try? JSONReader.parse(bytes), let file = node["file"]?.string,
            let format = node["format"]?.string.flatMap(LogSettings.Format.init)
        else { throw LogFileError("\(path) is not what a daemon writes") }
        self.file = file
        self.format = format
    }

    /// Writes it, or removes it if there is no file.
    ///
    /// Only commands without a daemon need it, so a failure is no reason to stop.
    func write(to folder: String) {
        let path = "\(folder)/\(Self.name)"
        guard let file else {
            unlink(path)
            return
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("file", file)
            writer.member("format", format.rawValue)
        }
        let new = path + ".new"
        let fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else { return }
        let bytes = writer.bytes
        let isWhole = Glibc.write(fd, bytes, bytes.count) == bytes.count
        close(fd)
        if isWhole { rename(new, path) } else { unlink(new) }
    }

    /// Searches the files; it blocks.
    package func search(_ search: LogSearch) -> LogFindings {
        guard let file else { return LogFindings() }
        let path = LogPath(live: file, allowsUntrustedFiles: true)
        return LogFileReader(path: path, format: format, start: nil).search(search)
    }
}
