// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import BghostTestSupport
import CBghost
import FoundationEssentials
import Synchronization
import Testing

/// The sample plugins, as the build made them, against a host that answers for the station.
@Suite(.timeLimit(.minutes(1)))
struct SamplePluginTests {
    @Test(arguments: [
        ("WeatherCheck", "org.bghost.sample.weather-check", "weather.check"),
        ("Notifier", "org.bghost.sample.notifier", "notifier.deliver"),
        ("PhotoUpload", "org.bghost.sample.photo-upload", "photos.upload"),
        ("Overrun", "org.bghost.sample.overrun", "overrun.ignore-cancel"),
    ])
    func `Each has a note, an id and its handler`(file: String, id: String, handler: String) throws
    {
        let path = Artifact.path("lib\(file).so")
        #expect(try BghostTestSupport.File.read(path).firstRange(of: noteBytes) != nil)
        let plugin = try PluginFile(path).open()
        #expect(text(plugin.table.id) == id)
        #expect(plugin.table.n_tasks == 1)
        #expect(try text(#require(plugin.table.tasks[0]).pointee.handler) == handler)
    }

    // It goes on for as long as the test process does, asleep for the most part.
    @Test func `Overrun says that it is asked to stop, and goes on`() async throws {
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
    func `A notification that is refused ends the run as it should`(
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

    // MARK: PhotoUpload

    @Test func `Photos are sent once, in order, and announced once`() async throws {
        let spool = try TemporaryDirectory()
        let data = try TemporaryDirectory()
        for name in ["b.jpg", "a.PNG", "note.txt"] { try spool.write("12345", to: name) }
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(http: 201, body: #"{"sha256":"00","bytes":5}"#) } }
        let plugin = try PluginFile(Artifact.path("libPhotoUpload.so")).open(on: host)
        let setting = TestRun.Setting(
            parameters: #"{"spool":"\#(spool.path)","server":"http://h/photos","notify":"tell"}"#,
            directory: data.path
        )
        let first = try await plugin.end(setting)
        #expect(first == Ending(status: BG_OK, payload: #"{"bytes":10,"uploaded":2}"#))
        let second = try await plugin.end(setting)
        #expect(second == Ending(status: BG_OK, payload: #"{"bytes":0,"uploaded":0}"#))

        let fetches = host.state.withLock { $0.fetches }
        #expect(fetches.map(\.url) == ["http://h/photos/a.PNG", "http://h/photos/b.jpg"])
        #expect(fetches.map(\.file) == ["\(spool.path)/a.PNG", "\(spool.path)/b.jpg"])
        #expect(fetches.allSatisfy { $0.method == "PUT" && $0.flags == BG_FETCH_DIGEST })
        #expect(
            fetches.map(\.headers) == ["Content-Type: image/png\n", "Content-Type: image/jpeg\n"]
        )
        #expect(host.state.withLock { $0.submissions }.map(\.identifier) == ["tell"])
    }

    @Test func `A run that fails half way goes on where it was`() async throws {
        let spool = try TemporaryDirectory()
        let data = try TemporaryDirectory()
        for name in ["a.jpg", "b.jpg"] { try spool.write("12345", to: name) }
        let host = ScriptedHost()
        host.onFetch.withLock {
            $0 = { call in
                // The second of the three fails.
                call.number == 2
                    ? call.end(http: 503) : call.end(body: #"{"sha256":"00","bytes":5}"#)
            }
        }
        let plugin = try PluginFile(Artifact.path("libPhotoUpload.so")).open(on: host)
        let setting = TestRun.Setting(
            parameters: #"{"spool":"\#(spool.path)","server":"http://h","notify":"tell"}"#,
            directory: data.path
        )
        #expect(try await plugin.end(setting).status == BG_E_RETRY)
        #expect(host.state.withLock { $0.submissions }.isEmpty)
        let second = try await plugin.end(setting)
        #expect(second == Ending(status: BG_OK, payload: #"{"bytes":5,"uploaded":1}"#))
        let submission = try #require(host.state.withLock { $0.submissions }.first)
        #expect(submission.parameters.contains("2 are safe"))
    }

    @Test func `Fewer bytes than the photo has are not success`() async throws {
        let spool = try TemporaryDirectory()
        let data = try TemporaryDirectory()
        try spool.write("12345", to: "a.jpg")
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(http: 201, body: #"{"sha256":"00","bytes":4}"#) } }
        let plugin = try PluginFile(Artifact.path("libPhotoUpload.so")).open(on: host)
        let parameters = #"{"spool":"\#(spool.path)","server":"http://h"}"#
        let ending = try await plugin.end(.init(parameters: parameters, directory: data.path))
        #expect(ending.status == BG_E_RETRY)
        #expect(ending.message == "a.jpg: 4 of 5 bytes arrived")
    }
}
