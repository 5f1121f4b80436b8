// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import StormyStation

/// `stormy-station serve`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve until SIGINT or SIGTERM.",
        discussion: """
            Prints {"event":"listening","port":N} to standard output once it can be reached. \
            GET /record shows what reached it, DELETE /record forgets it.
            """
    )

    @Option(help: ArgumentHelp("Port of 127.0.0.1; 0 is any that is free.", valueName: "n"))
    var port = StationServer.defaultPort

    @Option(
        help: ArgumentHelp(
            "Also append each thing as a line of JSON to this file.",
            valueName: "file"
        )
    )
    var record: String?

    func validate() throws {
        guard (0...65535).contains(port) else {
            throw ValidationError("--port must be from 0 to 65535, not \(port)")
        }
    }

    func run() async throws {
        let file = try record.map { path in
            do {
                return try RecordFile(path: path)
            } catch {
                StandardError.complain("cannot write the record to \(path): \(error)")
                throw ExitCode(73)
            }
        }
        let station = Station(recorder: Recorder(file: file))
        do {
            try await StationServer(station: station, port: port).run {
                print(#"{"event":"listening","port":\#($0)}"#)
                // A reader that waits for the line may read a pipe, which stdio buffers in blocks.
                fflush(nil)
            }
        } catch let failure as StationServer.Failure {
            StandardError.complain("\(failure)")
            throw ExitCode(73)
        }
    }
}
