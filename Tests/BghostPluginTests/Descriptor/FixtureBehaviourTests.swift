// SPDX-License-Identifier: Apache-2.0

@testable import BghostPlugin
import BghostTestSupport
import CBghost
import Glibc
import Testing

/// That the hostile fixtures do what they are named after.
///
/// A host that survives them has then survived something. Each runs in a process of its own.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct FixtureBehaviourTests {
    @Test func `Crash in constructor`() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) { try load("crash-in-constructor") }
    }

    @Test func `Abort in constructor`() async {
        await #expect(processExitsWith: .signal(SIGABRT)) { try load("abort-in-constructor") }
    }

    @Test func `Exit in constructor`() async {
        await #expect(processExitsWith: .exitCode(0)) { try load("exit-in-constructor") }
    }

    @Test func `Crash in entry`() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) { try load("crash-in-entry") }
    }

    @Test func `Hang in constructor`() async {
        await #expect(processExitsWith: .signal(SIGALRM)) {
            let path = try Fixture.library("hang-in-constructor")
            armAlarm()
            _ = try EntryTable(path: path)
            exit(3)
        }
    }

    @Test func `Hang in entry`() async {
        await #expect(processExitsWith: .signal(SIGALRM)) {
            let path = try Fixture.library("hang-in-entry")
            armAlarm()
            _ = try EntryTable(path: path)
            exit(3)
        }
    }

    @Test func `Noise in constructor`() async {
        let result = await #expect(
            processExitsWith: .exitCode(3),
            observing: [\.standardOutputContent, \.standardErrorContent]
        ) { try load("noise-in-constructor") }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        let error = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(output.contains("noise on stdout"))
        #expect(error.contains("noise on stderr"))
    }

    @Test func `The fixture lacks a symbol`() throws {
        let error = #expect(throws: EntryTable.LoadError.self) {
            try EntryTable("undefined-symbol")
        }
        #expect(error?.message.contains("no_library_defines_this") == true)
    }

    @Test func `The fixture has two tables`() throws {
        let path = try Fixture.library("two-tables")
        let first = try EntryTable(path: path).pointer
        #expect(try EntryTable(path: path).pointer != first)
    }

    @Test func `Throw over the boundary`() async {
        await #expect(processExitsWith: .signal(SIGABRT)) { try start("throw", "throw") }
    }

    @Test func `Crash in open`() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) {
            _ = try descriptor("crash-in-open").open?(nil, bg_str(), nil)
            exit(3)
        }
    }

    @Test func `Fail in open`() throws {
        #expect(try descriptor("fail-in-open").open?(nil, bg_str(), nil) == -1234)
    }

    @Test func `Crash in start`() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) {
            try start("misbehave", "crash-in-start")
        }
    }

    @Test func `Abort in start`() async {
        await #expect(processExitsWith: .signal(SIGABRT)) {
            try start("misbehave", "abort-in-start")
        }
    }

    @Test func `Exit in start`() async {
        await #expect(processExitsWith: .exitCode(0)) { try start("misbehave", "exit-in-start") }
    }

    @Test func `The fixture closes descriptors`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            let fd = open("/dev/null", O_RDONLY)
            let handler = try #require(descriptor("misbehave").handler(named: "close-descriptors"))
            #expect(handler.start(nil, nil) == BG_PENDING)
            exit(fcntl(fd, F_GETFD) < 0 ? 3 : 4)
        }
    }

    @Test func `The fixture writes rubbish`() async {
        await #expect(processExitsWith: .exitCode(3)) {
            var ends: [Int32] = [0, 0]
            socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &ends)
            let handler = try #require(descriptor("misbehave").handler(named: "write-rubbish"))
            #expect(handler.start(nil, nil) == BG_PENDING)
            var buffer = [UInt8](repeating: 0, count: 1024)
            exit(recv(ends[0], &buffer, buffer.count, 0) == 512 ? 3 : 4)
        }
    }

    @Test(arguments: ["spin", "cpu-burn", "sleep-forever"]) func `The fixture never ends`(
        handler: String
    ) async {
        await #expect(processExitsWith: .signal(SIGALRM)) { [handler] in
            let handler = try #require(descriptor("misbehave").handler(named: handler))
            armAlarm()
            _ = handler.start(nil, nil)
            exit(3)
        }
    }
}

/// Lets SIGALRM end this process in a moment, unless it ends by itself.
private func armAlarm() {
    var moment = itimerval()
    moment.it_value.tv_usec = 200_000
    setitimer(Int32(ITIMER_REAL.rawValue), &moment, nil)
}

/// Loads a fixture and calls its entry function; leaves with 3 if it comes back.
private func load(_ fixture: String) throws {
    _ = try EntryTable(fixture)
    exit(3)
}

private func descriptor(_ fixture: String) throws -> PluginDescriptor {
    let path = try Fixture.library(fixture)
    let note = try PluginImage.inspect(path: path).requireLoadable()
    return try PluginDescriptor.read(try EntryTable(path: path).pointer, note: note)
}

/// Starts a handler without a host; leaves with 3 if it comes back.
private func start(_ fixture: String, _ name: String) throws {
    let handler = try #require(descriptor(fixture).handler(named: name))
    _ = handler.start(nil, nil)
    exit(3)
}
