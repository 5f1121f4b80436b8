// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import HTTPTypes
import HummingbirdTesting
import StormyStation
import Testing

@Suite struct StationServerTests {
    @Test(.timeLimit(.minutes(5))) func `Serves while its body runs`() async throws {
        let server = StationServer(station: Station(recorder: Recorder()), port: 0)
        let listener = try await server.run { port in PortHolder.find(listeningOn: port) }
        #expect(listener?.pid == getpid())
    }

    @Test(.timeLimit(.minutes(5))) func `Is reached on loopback only`() async throws {
        let server = StationServer(station: Station(recorder: Recorder()), port: 0)
        let table = try await server.run { port in
            let hex = String(port, radix: 16, uppercase: true)
            let four = String(repeating: "0", count: 4 - hex.count) + hex
            let lines = String(decoding: (try? File.read("/proc/net/tcp")) ?? [], as: UTF8.self)
            return lines.split(separator: "\n").filter { $0.contains(":\(four) 00000000:0000 0A") }
        }
        #expect(table.count == 1)
        #expect(table.allSatisfy { $0.contains("0100007F:") })
    }

    @Test(.timeLimit(.minutes(5))) func `Names the process that holds the port`() async throws {
        let first = StationServer(station: Station(recorder: Recorder()), port: 0)
        let failure = try await first.run { port -> StationServer.Failure? in
            let second = StationServer(station: Station(recorder: Recorder()), port: port)
            do {
                _ = try await second.run { _ in Issue.record("two servers listen on \(port)") }
                return nil
            } catch {
                return error as? StationServer.Failure
            }
        }
        guard case .portTaken(_, let holder?) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(holder.pid == getpid())
        #expect("\(try #require(failure))".contains("kill \(getpid())"))
    }

    @Test(.timeLimit(.minutes(5))) func `Answers over a socket`() async throws {
        let station = StationFixture()
        let status = try await station.test(.ahc()) { client in
            try await client.execute(uri: "/v1/forecast?latitude=1&longitude=1", method: .get)
                .status
        }
        #expect(status == .ok)
        #expect(station.record.forecasts.count == 1)
    }

    @Test func `Finds listeners in the table`() {
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:21CD 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0
               1: 0100007F:21CD 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 100 0
               2: 0100007F:21CE 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0
               3: rubbish
            """
        #expect(PortHolder.inodes(in: table, listeningOn: 8653) == ["4711"])
        #expect(PortHolder.inodes(in: "", listeningOn: 8653).isEmpty)
    }
}
