// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// The usual programs that fetch files, where they are installed.
enum Client {
    static let curl = "/usr/bin/curl"
    static let aria2 = "/usr/bin/aria2c"

    static var hasAria2: Bool { access(aria2, X_OK) == 0 }
}

extension Subject {
    /// What the usual programs take for what `transfer` and `files` do.
    func client() throws {
        let server = try FileServer(self)
        let bytes = count << 20
        switch words.first {
        case "down":
            try measure(server, per: bytes) {
                [Client.curl, "-sf", "-o", $0 + "/file", server.url("\(bytes)")]
            }
            try server.check("file", bytes: bytes)
        case "up":
            let source = try server.makeFile(count)
            try measure(server, per: bytes) { _ in
                [Client.curl, "-sf", "-o", "/dev/null", "-T", source, server.url("file")]
            }
        case "curl-files":
            try measure(server, per: nil) {
                [
                    Client.curl, "-sf", "--no-progress-meter", "--parallel", "--parallel-max", "16",
                    "-o", $0 + "/#1", server.url("1024?[1-\(count)]"),
                ]
            }
            for number in 1...count { try server.check("\(number)", bytes: 1024) }
        case "aria2-files":
            let list = server.folder + "/list"
            let lines = (1...count).map { "\(server.url("1024?\($0)"))\n out=\($0)\n" }
            try TextFile.write(lines.joined(), to: list)
            try measure(server, per: nil) {
                [
                    Client.aria2, "-q", "-j", "16", "-x", "1", "--file-allocation=none", "-i", list,
                    "-d", $0,
                ]
            }
            for number in 1...count { try server.check("\(number)", bytes: 1024) }
        default: throw UsageError(description: "client wants down, up, curl-files or aria2-files")
        }
    }

    private func measure(
        _ server: FileServer,
        per bytes: Int?,
        _ arguments: (_ folder: String) -> [String]
    ) throws {
        let arguments = arguments(server.folder)
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let watch = Stopwatch(ofChildren: true)
        let child = try start(arguments[0], arguments, [null, null, 2])
        defer { close(child.pidfd) }
        var status: Int32 = 0
        waitpid(child.pid, &status, 0)
        watch.report(bytes.map { .bytes($0) } ?? .files(count))
        guard status == 0 else {
            throw BenchFailure(description: "\(arguments[0]) failed (status \(status))")
        }
    }
}

extension Stopwatch {
    /// What has been moved meanwhile.
    enum Load {
        case bytes(Int)
        case files(Int)
    }

    func report(_ load: Load) {
        let (seconds, processor) = (seconds, processor)
        switch load {
        case .bytes(let bytes):
            let mebibytes = Double(bytes) / Double(1 << 20)
            print("mib-per-second \((mebibytes / seconds).fixed(3))")
            print("processor-per-gib \((processor / mebibytes * 1024).fixed(3))")
        case .files(let files):
            print("per-second \((Double(files) / seconds).fixed(3))")
            print("processor-us \((processor / Double(files) * 1e6).fixed(3))")
        }
    }
}
