// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BghostTestSupport
import CBghost
import FoundationEssentials
import Synchronization
import Testing

/// The sample plugins, as the build made them, against a host that answers for the station.
@Suite(.timeLimit(.minutes(5)))
struct SamplePluginTests {
    private static let stormy = "com.example.stormy"

    @Test(arguments: [
        (
            "WeatherCheck", "org.bghost.sample.weather-check",
            ["\(stormy).noon", "urlSession.weather", "notificationAction", "launch"]
        ),
        ("Notifier", "org.bghost.sample.notifier", ["notifier.deliver"]),
        (
            "PhotoUpload", "org.bghost.sample.photo-upload",
            ["\(stormy).photos", "urlSession.photos", "notificationAction", "launch"]
        ),
        ("Overrun", "org.bghost.sample.overrun", ["overrun.ignore-cancel"]),
    ])
    func `Each sample plugin has a note, an id and its handlers`(
        file: String,
        id: String,
        handlers: [String]
    ) throws {
        let path = Artifact.path("lib\(file).so")
        #expect(try !BghostTestSupport.File.read(path).places(of: noteBytes).isEmpty)
        let plugin = try PluginFile(path).open()
        #expect(text(plugin.table.id) == id)
        let names = try (0..<Int(plugin.table.n_tasks)).map { index in
            try text(#require(plugin.table.tasks[index]).pointee.handler)
        }
        #expect(names == handlers)
    }

    // It continues for the life of the test process, asleep most of the time.
    @Test func `The overrun sample logs the cancel and continues`() async throws {
        let host = ScriptedHost()
        let run = try PluginFile(Artifact.path("libOverrun.so")).open(on: host).run()
        #expect(run.start() == BG_PENDING)
        run.cancel(BG_WHY_EXPIRED)
        let log = await host.logged.value
        #expect(log.run == run.number)
        #expect(log.message == "asked to stop (expired), with 5.0 seconds left; going on")
        #expect(run.ended.now == nil)
    }

    // MARK: Notifier

    @Test func `A notification is published as ntfy's JSON`() async throws {
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(body: #"{"id":"xyz","time":1}"#) } }
        let plugin = try PluginFile(Artifact.path("libNotifier.so")).open(on: host)
        let parameters = """
            {"server":"http://127.0.0.1:1/","topic":"t","title":"A","message":"M","tags":["x"],\
            "priority":4,"id":"k1"}
            """
        let ending = try await plugin.end(.init(parameters: parameters))
        #expect(ending == Ending(status: BG_OK, payload: #"{"message":"xyz","status":200}"#))
        let fetch = try #require(host.state.withLock { $0.fetches }.first)
        #expect(fetch.method == "POST")
        #expect(fetch.url == "http://127.0.0.1:1/")
        #expect(fetch.headers == "Content-Type: application/json\nIdempotency-Key: k1\n")
        struct Body: Decodable, Equatable {
            var topic, title, message: String
            var tags: [String]
            var priority: Int
        }
        let body = try JSONDecoder().decode(Body.self, from: Data(fetch.body.utf8))
        let expected = Body(topic: "t", title: "A", message: "M", tags: ["x"], priority: 4)
        #expect(body == expected)
    }

    @Test(
        arguments: [(429, BG_E_RETRY), (500, BG_E_RETRY), (403, BG_E_FAILED)]
            as [(Int32, bg_status)]
    )
    func `The sample ends its run as documented if a notification is refused`(
        http: Int32,
        status: bg_status
    ) async throws {
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(http: http, headers: "retry-after: 3\n") } }
        let plugin = try PluginFile(Artifact.path("libNotifier.so")).open(on: host)
        let parameters = #"{"server":"http://127.0.0.1:1/","topic":"t","message":"M"}"#
        let ending = try await plugin.end(.init(parameters: parameters))
        #expect(ending.status == status)
        #expect(ending.retryAfter == (status == BG_E_RETRY ? 3000 : 0))
    }
}
