// SPDX-License-Identifier: Apache-2.0

import BghostAlerts
@testable import BghostAlertTransport
import BghostBase
import BghostCrypto
import BghostDispatch
import BghostLinux
import BghostModel
import BghostTestSupport
import Glibc
import Testing

/// Messages to real servers and programs.
@Suite(.ownThreads) struct AlertTransportTests {
    private static let at: Int64 = 1_790_000_000_000_000_000

    private static let delivery = AlertDelivery(
        message: AlertMessage(
            number: 1,
            items: [
                .init(
                    key: AlertKey(.failures, "com.example.a"),
                    state: .firing,
                    since: at,
                    detail: "3 runs failed"
                )
            ],
            firing: 1,
            at: at
        ),
        host: "edge-7"
    )

    private func send(
        _ receiver: AlertReceiver,
        _ delivery: AlertDelivery = Self.delivery
    ) async throws -> Result<String, AlertFailure> {
        let transport = HTTPAlertTransport()
        let spawner = try Spawner()
        let result = await transport.send(delivery, to: receiver, spawner: spawner)
        await transport.shutDown()
        spawner.end()
        return result
    }

    @Test(.timeLimit(.minutes(5)))
    func `A webhook gets signed JSON and the operator's headers`() async throws {
        let server = try HTTPReceiver()
        server.start()
        defer { server.stop() }
        let receiver = AlertReceiver.webhook(
            url: server.url + "/hook?x=1",
            headers: [AlertHeader(name: "X-Team", value: "ops")],
            secret: "s3cret"
        )
        #expect(try await send(receiver) == .success("it answered 200"))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST" && request.target == "/hook?x=1")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["x-team"] == "ops")
        #expect(try JSONReader.parse(request.body)["firing"]?.int64 == 1)
        let code = HMACSHA256.code(of: Array(request.body.utf8), key: Array("s3cret".utf8))
        let hex = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(request.headers["x-bghost-signature"] == "sha256=" + hex)
    }

    /// RFC 4231, test case 2.
    @Test func `The code is that of the standard`() {
        let code = HMACSHA256.code(
            of: Array("what do ya want for nothing?".utf8),
            key: Array("Jefe".utf8)
        )
        #expect(code.prefix(4) == [0x5B, 0xDC, 0xC1, 0x46] && code.last == 0x43)
    }

    @Test(.timeLimit(.minutes(5)))
    func `ntfy gets title, priority, tags and token`() async throws {
        let server = try HTTPReceiver()
        server.start()
        defer { server.stop() }
        #expect(try await send(.ntfy(url: server.url + "/topic", token: "tk_1")).isSuccess)
        let request = try #require(server.requests.first)
        #expect(request.target == "/topic")
        #expect(request.headers["title"] == "bghost on edge-7: com.example.a fails")
        #expect(request.headers["priority"] == "4")
        #expect(request.headers["tags"] == "rotating_light")
        #expect(request.headers["authorization"] == "Bearer tk_1")
        #expect(request.body.hasPrefix("FIRING com.example.a fails: 3 runs failed"))
    }

    @Test(.timeLimit(.minutes(5)), arguments: [302, 404, 500])
    func `Any other answer is a failure, and no redirect leads to another server`(
        status: Int
    ) async throws {
        let server = try HTTPReceiver()
        server.start()
        defer { server.stop() }
        server.answer([status])
        let result = try await send(.ntfy(url: server.url + "/t", token: nil))
        #expect(result == .failure(AlertFailure("it answered \(status)")))
        server.stop()
        let closed = try await send(.ntfy(url: "http://127.0.0.1:1/t", token: "secret"))
        guard case .failure(let failure) = closed else {
            Issue.record("port 1 answers")
            return
        }
        #expect(failure.reason.contains("127.0.0.1:1") && !failure.reason.contains("secret"))
    }

    @Test(.timeLimit(.minutes(5)), arguments: [307, 308])
    func `A redirect that repeats a message whole is followed on its server`(
        status: Int
    ) async throws {
        let server = try HTTPReceiver()
        server.start()
        defer { server.stop() }
        server.answer([status], headers: ["Location: \(server.url)/there"])
        let hook = AlertReceiver.webhook(url: server.url + "/hook", headers: [], secret: nil)
        #expect(try await send(hook).isSuccess)
        #expect(
            server.requests.map { "\($0.method) \($0.target)" } == ["POST /hook", "POST /there"]
        )
        #expect(server.requests.first?.body == server.requests.last?.body)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [301, 302, 303])
    func `A redirect makes no page of a message, and leads a heartbeat on`(
        status: Int
    ) async throws {
        let server = try HTTPReceiver()
        server.start()
        defer { server.stop() }
        let location = "Location: \(server.url)/login"
        let hook = AlertReceiver.webhook(url: server.url + "/hook", headers: [], secret: nil)
        server.answer([status], headers: [location])
        guard case .failure(let failure) = try await send(hook) else {
            Issue.record("the page took the message")
            return
        }
        #expect(failure.reason.contains("would become a GET without its body"))
        let transport = HTTPAlertTransport()
        server.answer([status], headers: [location])
        #expect(await !transport.beat(server.url + "/ping", reasons: "x").isSuccess)
        server.answer([status], headers: [location])
        #expect(await transport.beat(server.url + "/ping", reasons: "").isSuccess)
        await transport.shutDown()
        #expect(
            server.requests.map { "\($0.method) \($0.target)" } == [
                "POST /hook", "POST /ping/fail", "GET /ping", "GET /login",
            ]
        )
    }

    @Test(.timeLimit(.minutes(5)))
    func `A heartbeat is as healthchecks.io and Uptime Kuma want it`() async throws {
        let server = try HTTPReceiver()
        server.start()
        defer { server.stop() }
        let transport = HTTPAlertTransport()
        for (url, reasons) in [
            ("/uuid", ""), ("/uuid", "the store fails\nx"), ("/uuid?create=1", "x"),
            ("/api/push/tok?status=up&msg=OK&ping=", ""), ("/api/push/tok", "a b"),
        ] {
            #expect(await transport.beat(server.url + url, reasons: reasons).isSuccess)
        }
        await transport.shutDown()
        #expect(
            server.requests.map { "\($0.method) \($0.target)" } == [
                "GET /uuid", "POST /uuid/fail", "POST /uuid/fail?create=1",
                "GET /api/push/tok?status=up&msg=OK",
                "GET /api/push/tok?status=down&msg=a%20b",
            ]
        )
        #expect(server.requests[1].body == "the store fails\nx")
    }

    // MARK: Programs

    private func run(
        _ script: String,
        timeout: UInt64 = 30_000_000_000,
        input: String = "text"
    ) async throws -> Result<String, AlertFailure> {
        let spawner = try Spawner()
        var program = AlertProgram(arguments: ["/bin/sh", "-c", script], input: input)
        program.timeout = timeout
        let result = await program.run(spawner)
        spawner.end()
        return result
    }

    @Test(.timeLimit(.minutes(5)))
    func `A program gets a mail on its input, and little else`() async throws {
        let folder = try TemporaryDirectory()
        let script = try folder.writeProgram(
            "#!/bin/sh\ncat > \(folder.file("mail"))\nenv > \(folder.file("env"))\n"
                + "ls /proc/self/fd > \(folder.file("fds"))\n",
            to: "mailer"
        )
        // As those of the daemon; above those that `ls` opens itself.
        let opened = open(script, O_RDONLY | O_CLOEXEC)
        let own = fcntl(opened, F_DUPFD_CLOEXEC, 100)
        close(opened)
        try #require(own >= 100)
        defer { close(own) }
        let receiver = AlertReceiver.command(arguments: [script, "-t"], to: "ops@example.org")
        #expect(try await send(receiver) == .success("exit 0"))
        let mail = String(decoding: try File.read(folder.file("mail")), as: UTF8.self)
        #expect(
            mail.hasPrefix("To: ops@example.org\nSubject: bghost on edge-7: com.example.a fails\n")
        )
        let environment = String(decoding: try File.read(folder.file("env")), as: UTF8.self)
            .split(separator: "\n").map { $0.prefix { $0 != "=" } }
        #expect(Set(environment).isSubset(of: ["PATH", "LANG", "PWD", "SHLVL", "OLDPWD", "_"]))
        let descriptors = String(decoding: try File.read(folder.file("fds")), as: UTF8.self)
            .split(separator: "\n")
        #expect(descriptors.starts(with: ["0", "1"]) && descriptors.contains("2"))
        #expect(!descriptors.contains("\(own)"), "\(descriptors)")
    }

    @Test(.timeLimit(.minutes(5)))
    func `A program that fails says why`() async throws {
        #expect(
            try await run("cat > /dev/null; echo no route >&2; exit 75")
                == .failure(AlertFailure("exit 75: no route"))
        )
        #expect(try await run("kill -9 $$") == .failure(AlertFailure("signal 9")))
        let absent = try await send(.command(arguments: ["/nonexistent/program"], to: nil))
        #expect(!absent.isSuccess)
        // One that reads nothing does not hold up the daemon.
        #expect(try await run("exit 0", input: String(repeating: "x", count: 200_000)).isSuccess)
    }

    @Test(.timeLimit(.minutes(5)))
    func `A program that hangs is killed with what it has started`() async throws {
        let ends = try Descriptor.pipe()
        defer { close(ends.reading) }
        // It and what it starts have this pipe open.
        let path = "/proc/\(getpid())/fd/\(ends.writing)"
        let result = try await run(
            "exec 9>\(path); sleep 600 & yes; wait",
            timeout: 500_000_000
        )
        close(ends.writing)
        guard case .failure(let failure) = result else {
            Issue.record("it ended")
            return
        }
        #expect(failure.reason.contains("was killed"))
        // All that is killed ends as soon as it gets processor time.
        var byte: UInt8 = 0
        #expect(read(ends.reading, &byte, 1) == 0)
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
