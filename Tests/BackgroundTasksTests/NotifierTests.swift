// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import CBghost
import FoundationEssentials
import Glibc
import Synchronization
import Testing

/// The sinks of the Notifier, as its `config` names them.
@Suite struct NotifierTests {
    private static let parameters =
        #"{"id":"a","key":"k1","title":"A","body":"M","level":"critical","userInfo":{"n":1}}"#

    private func open(_ host: ScriptedHost, _ sinks: String) throws -> TestPlugin {
        try PluginFile(Artifact.path("libNotifier.so"))
            .open(on: host, config: #"{"sinks":[\#(sinks)]}"#)
    }

    private func deliver(
        _ host: ScriptedHost,
        _ sinks: String,
        _ parameters: String = Self.parameters,
        directory: String = "/tmp"
    ) async throws -> Ending {
        try await open(host, sinks).end(.init(parameters: parameters, directory: directory))
    }

    @Test func `A webhook gets the JSON as it is, signed, with the key`() async throws {
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(http: 204) } }
        let ending = try await deliver(
            host,
            #"{"type":"webhook","url":"http://h/hook","secret":"geheim"}"#
        )
        #expect(ending == Ending(status: BG_OK, payload: #"{"status":204}"#))
        let fetch = try #require(host.state.withLock { $0.fetches }.first)
        #expect(fetch.url == "http://h/hook")
        #expect(fetch.body == Self.parameters)
        // Computed by another implementation.
        let signature =
            "f30925ca36c46168518dd99fcc7f679a"
            + "e3ca014937a3a3954adfc7dcf4463d69"
        #expect(
            fetch.headers == "Content-Type: application/json\nIdempotency-Key: k1\n"
                + "X-BGHost-Signature: sha256=\(signature)\n"
        )
    }

    @Test func `ntfy gets what it can show, and a button for each link`() async throws {
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(body: #"{"id":"xyz"}"#) } }
        let parameters = """
            {"id":"a","key":"k1","title":"A","subtitle":"S","body":"M","level":"timeSensitive",\
            "userInfo":{"tags":["zap"]},"actions":[{"id":"x","title":"X"},{"id":"y","title":"Y"}],\
            "actionURLs":{"x":"http://127.0.0.1:8644/act/t/x"},"replaces":false,"thread":""}
            """
        let ending = try await deliver(
            host,
            #"{"type":"ntfy","server":"http://h/","topic":"t","token":"tk"}"#,
            parameters
        )
        #expect(ending == Ending(status: BG_OK, payload: #"{"message":"xyz","status":200}"#))
        struct Body: Decodable, Equatable {
            struct Action: Decodable, Equatable { var action, label, method, url: String }
            var topic, title, message: String
            var tags: [String]
            var priority: Int
            var actions: [Action]
        }
        let fetch = try #require(host.state.withLock { $0.fetches }.first)
        #expect(fetch.headers.contains("Authorization: Bearer tk\n"))
        let url = "http://127.0.0.1:8644/act/t/x"
        #expect(
            try JSONDecoder().decode(Body.self, from: Data(fetch.body.utf8))
                == Body(
                    topic: "t",
                    title: "A",
                    message: "S\nM",
                    tags: ["zap"],
                    priority: 4,
                    actions: [.init(action: "http", label: "X", method: "POST", url: url)]
                )
        )
    }

    @Test func `A retry skips the sinks that have delivered`() async throws {
        let folder = try TemporaryDirectory()
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(http: $0.url == "http://b/" ? 503 : 200) } }
        let sinks = #"{"type":"webhook","url":"http://a/"},{"type":"webhook","url":"http://b/"}"#
        let first = try await deliver(host, sinks, directory: folder.path)
        #expect(first.status == BG_E_RETRY)
        host.onFetch.withLock { $0 = { $0.end(http: 200) } }
        let second = try await deliver(host, sinks, directory: folder.path)
        #expect(second == Ending(status: BG_OK, payload: #"{"sinks":["webhook a","webhook b"]}"#))
        #expect(
            host.state.withLock { $0.fetches }.map(\.url) == [
                "http://a/", "http://b/", "http://b/",
            ]
        )
        #expect(try BghostTestSupport.File.list(folder.path).isEmpty)
    }

    @Test func `Sinks of one name all get it, and a retry tells them apart`() async throws {
        let folder = try TemporaryDirectory()
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(http: $0.url == "http://b/" ? 503 : 200) } }
        let sinks = ["a", "b"].map { #"{"type":"ntfy","server":"http://\#($0)/","topic":"t"}"# }
            .joined(separator: ",")
        let first = try await deliver(host, sinks, directory: folder.path)
        #expect(first.status == BG_E_RETRY)
        host.onFetch.withLock { $0 = { $0.end(http: 200) } }
        let second = try await deliver(host, sinks, directory: folder.path)
        #expect(second == Ending(status: BG_OK, payload: #"{"sinks":["ntfy t","ntfy t (2)"]}"#))
        #expect(
            host.state.withLock { $0.fetches }.map(\.url) == [
                "http://a/", "http://b/", "http://b/",
            ]
        )
    }

    @Test func `A list of deliveries that cannot be read is replaced, with a warning`() async throws
    {
        let folder = try TemporaryDirectory()
        // A folder in the place of the list of the key `k1`.
        #expect(mkdir(folder.file("sent-6b31"), 0o755) == 0)
        try folder.write("", to: "sent-6b31/file")
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(http: $0.url == "http://b/" ? 503 : 200) } }
        let sinks = #"{"type":"webhook","url":"http://a/"},{"type":"webhook","url":"http://b/"}"#
        #expect(try await deliver(host, sinks, directory: folder.path).status == BG_E_RETRY)
        let warning = host.logs.first { $0.message.contains("cannot be read") }
        #expect(warning?.message.contains("so all get it") == true, "\(host.logs)")
        host.onFetch.withLock { $0 = { $0.end(http: 200) } }
        #expect(try await deliver(host, sinks, directory: folder.path).status == BG_OK)
        #expect(
            host.state.withLock { $0.fetches }.map(\.url) == [
                "http://a/", "http://b/", "http://b/",
            ]
        )
        #expect(try BghostTestSupport.File.list(folder.path).isEmpty)
    }

    @Test func `A list of deliveries that cannot be written fails no delivery`() async throws {
        let host = ScriptedHost()
        host.onFetch.withLock { $0 = { $0.end(http: 200) } }
        let sinks = #"{"type":"webhook","url":"http://a/"},{"type":"webhook","url":"http://b/"}"#
        let ending = try await deliver(host, sinks, directory: "/nonexistent/folder")
        #expect(ending == Ending(status: BG_OK, payload: #"{"sinks":["webhook a","webhook b"]}"#))
        #expect(host.logs.count { $0.message.contains("cannot note that webhook ") } == 2)
    }

    @Test func `A command gets the JSON on its stdin, and its key`() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("out")
        let ending = try await deliver(
            ScriptedHost(),
            #"{"type":"exec","command":["/bin/sh","-c","(cat; echo $BGHOST_NOTIFICATION_KEY) > \#(file)"]}"#
        )
        #expect(ending.status == BG_OK)
        let text = String(decoding: try BghostTestSupport.File.read(file), as: UTF8.self)
        #expect(text == Self.parameters + "k1\n")
    }

    @Test func `A failed command is retried, and its output is the message`() async throws {
        let ending = try await deliver(
            ScriptedHost(),
            #"{"type":"exec","command":["/bin/sh","-c","echo no room >&2; exit 3"]}"#
        )
        #expect(ending.status == BG_E_RETRY)
        #expect(ending.message.contains("no room"))
    }

    @Test func `A desktop notification runs notify-send`() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.file("out")
        let program = try folder.writeProgram(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" > \(file)\n",
            to: "notify-send"
        )
        let ending = try await deliver(
            ScriptedHost(),
            #"{"type":"desktop","program":"\#(program)"}"#
        )
        #expect(ending.status == BG_OK, "\(ending)")
        let words = String(decoding: try BghostTestSupport.File.read(file), as: UTF8.self)
            .split(separator: "\n").map(String.init)
        #expect(words.first == "--app-name=bghost")
        #expect(words.contains("--urgency=critical"))
        // Untrusted text is not an option.
        let end = try #require(words.firstIndex(of: "--"))
        #expect(Array(words[(end + 1)...]) == ["A", "M"])
    }

    @Test func `A desktop notification replaces none of another plugin, and its body is no markup`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let file = folder.file("out")
        let program = try folder.writeProgram(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" > \(file)\n",
            to: "notify-send"
        )
        let ending = try await deliver(
            ScriptedHost(),
            #"{"type":"desktop","program":"\#(program)"}"#,
            ##"{"id":"storm","plugin":"weather","title":"A","body":"<b>&bold</b>"}"##
        )
        #expect(ending.status == BG_OK, "\(ending)")
        let words = String(decoding: try BghostTestSupport.File.read(file), as: UTF8.self)
            .split(separator: "\n").map(String.init)
        #expect(words.contains("--hint=string:x-canonical-private-synchronous:weather/storm"))
        #expect(words.last == "&lt;b&gt;&amp;bold&lt;/b&gt;")
    }

    @Test(arguments: [
        #"{"type":"pigeon"}"#, #"{"type":"exec","command":["true"]}"#, #"{"type":"ntfy"}"#, "",
    ])
    func `A delivery with an invalid config fails and is not retried`(sinks: String) async throws {
        let ending = try await deliver(ScriptedHost(), sinks)
        #expect(ending.status == BG_E_FAILED)
        #expect(!ending.message.isEmpty)
    }
}
