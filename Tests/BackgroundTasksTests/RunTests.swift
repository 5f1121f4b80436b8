// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BghostTestSupport
import CBghost
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct RunTests {
    struct Greeting: Codable {
        var name: String
        var home: Home?

        struct Home: Codable { var rooms: [Int] }
    }

    struct Hello: TaskHandler {
        var name: String

        func run(_ context: TaskContext) async throws -> [String: String] {
            await Task.yield()
            return ["greeting": "Hello, \(name)!"]
        }
    }

    struct Broken: Error, CustomStringConvertible { let description: String }

    @Test func `A handler that returns nothing succeeds without a payload`() async throws {
        let plugin = try TestPlugin { Handler("a") { _ in await Task.yield() } }
        #expect(try await plugin.end() == Ending(status: BG_OK))
    }

    @Test func `The return value of a handler is the payload`() async throws {
        let plugin = try TestPlugin { Handler("a") { _ in ["b": 2, "a": 1] } }
        #expect(try await plugin.end() == Ending(status: BG_OK, payload: #"{"a":1,"b":2}"#))
    }

    @Test func `A handler is given its parameters`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { (_, greeting: Greeting) in "\(greeting.name)/x" }
        }
        let ending = try await plugin.end(.init(parameters: #"{"name":"Ada"}"#))
        #expect(ending == Ending(status: BG_OK, payload: #""Ada/x""#))
    }

    @Test func `A type is a handler whose properties are the parameters`() async throws {
        let plugin = try TestPlugin { Handler("a", Hello.self) }
        let ending = try await plugin.end(.init(parameters: #"{"name":"Ada"}"#))
        #expect(ending == Ending(status: BG_OK, payload: #"{"greeting":"Hello, Ada!"}"#))
    }

    @Test(arguments: [
        ("{}", "parameters: `name` is missing"),
        (#"{"name":3}"#, "parameters: `name` is not String"),
        (#"{"name":null}"#, "parameters: `name` is null, expected String"),
        (#"{"name":"a","home":{"rooms":[1,"x"]}}"#, "parameters: `home.rooms[1]` is not Int"),
        (#"{"name":"a","home":{}}"#, "parameters: `home.rooms` is missing"),
    ])
    func `Parameters that do not fit fail the run and name the place`(
        parameters: String,
        message: String
    ) async throws {
        let plugin = try TestPlugin { Handler("a") { (_, _: Greeting) in } }
        let ending = try await plugin.end(.init(parameters: parameters))
        #expect(ending == Ending(status: BG_E_FAILED, message: message))
    }

    @Test func `An error fails the run with its description on one line`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { _ in throw Broken(description: "disk\nis\u{1B}full") }
        }
        let ending = try await plugin.end()
        #expect(ending == Ending(status: BG_E_FAILED, message: "disk is full"))
    }

    @Test(
        arguments: [
            (nil, 0), (.seconds(1.5), 1500), (.nanoseconds(1), 1), (.seconds(-4), 0),
            (.seconds(Int64.max), .max),
        ] as [(Duration?, Int64)]
    )
    func `RetryLater requests a retry`(after: Duration?, milliseconds: Int64) async throws {
        let plugin = try TestPlugin { Handler("a") { _ in throw RetryLater(after: after, "busy") } }
        let expected = Ending(status: BG_E_RETRY, message: "busy", retryAfter: milliseconds)
        #expect(try await plugin.end() == expected)
    }

    @Test func `PermanentFailure prevents a retry`() async throws {
        let plugin = try TestPlugin { Handler("a") { _ in throw PermanentFailure("gone") } }
        #expect(try await plugin.end() == Ending(status: BG_E_FINAL, message: "gone"))
    }

    @Test func `A result that is too large fails the run and says so`() async throws {
        let plugin = try TestPlugin { Handler("a") { _ in String(repeating: "x", count: 100) } }
        let ending = try await plugin.end(.init(resultBytesMax: 99))
        #expect(ending.status == BG_E_FAILED)
        #expect(ending.payload.isEmpty)
        #expect(ending.message.contains("102 bytes"))
        #expect(ending.message.contains("may have 99"))
    }

    @Test func `A result that is not JSON fails the run`() async throws {
        let plugin = try TestPlugin { Handler("a") { _ in Double.nan } }
        #expect(try await plugin.end().status == BG_E_FAILED)
    }

    /// How a run comes to its end, for what must be freed after it.
    enum Way: CaseIterable { case returns, fetches, isRefusedAFetch, isCancelled }

    @Test(arguments: Way.allCases)
    func `A run is completed once, and nothing of it stays`(way: Way) async throws {
        let url = try #require(URL(string: "http://example.org/"))
        let context = Mutex(WeakContext())
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end() } }
        host.state.withLock { $0.fetchAnswer = way == .isRefusedAFetch ? BG_E_LIMIT : BG_OK }
        let plugin = try TestPlugin(on: host) {
            Handler("a") { own in
                context.withLock { $0.context = own }
                switch way {
                case .returns: break
                case .fetches, .isRefusedAFetch: _ = try await own.fetch(FetchRequest(url))
                case .isCancelled: try await untilCancelled()
                }
            }
        }
        let run = try plugin.run()
        run.start()
        if way == .isCancelled { run.cancel() }
        _ = await run.ended.value
        #expect(run.completions == 1)
        run.release()
        // Never, if a reference is left over; the task itself holds one a moment longer.
        while context.withLock({ $0.context != nil }) { await Task.yield() }
    }

    @Test func `A handler begins within start, on its thread, and may end there`() throws {
        let thread = UInt(pthread_self())
        let plugin = try TestPlugin { Handler("a") { _ in UInt(pthread_self()) == thread } }
        let run = try plugin.run()
        #expect(run.start() == BG_PENDING)
        #expect(run.ended.now == Ending(status: BG_OK, payload: "true"))
        run.release()
    }

    @Test func `A run without result or message ends with the status of start`() throws {
        let plugin = try TestPlugin { Handler("a") { _ in } }
        let run = try plugin.run()
        #expect(run.start() == BG_OK)
        #expect(run.completions == 1)
        run.release()
    }

    @Test func `A run that ends on another thread calls complete once`() async throws {
        let plugin = try TestPlugin { Handler("a") { _ in await Task.yield() } }
        for _ in 0..<200 {
            let run = try plugin.run()
            run.start()
            #expect(await run.ended.value == Ending(status: BG_OK))
            #expect(run.completions == 1)
            run.release()
        }
    }

    @Test func `A context that outlives its run and its host's memory does no harm`() async throws {
        let kept = Signal<TaskContext>()
        let plugin = try TestPlugin { Handler("a") { kept.send($0) } }
        _ = try await plugin.end(.init(parameters: #"{"name":"Ada"}"#))
        plugin.close()
        let context = await kept.value
        #expect(context.taskIdentifier == "com.example.test")
        #expect(context.rawParameters == #"{"name":"Ada"}"#)
        context.progress(1, of: 2)
    }
}

struct WeakContext: Sendable {
    weak var context: TaskContext?
}
