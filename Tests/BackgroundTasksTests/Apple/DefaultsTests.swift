// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import SwiftUI
import Testing

/// `UserDefaults` in the plugin's data directory.
@Suite(.timeLimit(.minutes(5)))
final class DefaultsTests {
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "bghost-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit {
        // A folder that is left costs nothing but room.
        try? FileManager.default.removeItem(at: directory)
    }

    /// Carries out a body in a run of a plugin of its own, with the same data directory each time.
    private func run(
        in directory: URL? = nil,
        _ body: @escaping @Sendable (UserDefaults) throws -> [String]
    ) async throws -> [String] {
        let plugin = Plugin(id: "org.example.defaults", version: "1") {
            Handler("a") { _ in try body(.standard) }
        }
        let host = try TestHost(plugin, dataDirectory: directory ?? self.directory)
        let run = try await host.launch("a")
        #expect(run.outcome == .succeeded, "\(run.message)")
        return try run.result(as: [String].self)
    }

    private func file(_ name: String) -> URL { directory.appending(path: "Preferences/" + name) }

    @Test func `Values of every type are stored and read back unchanged`() async throws {
        let date = Date(timeIntervalSince1970: 1_764_000_000.25)
        _ = try await run { defaults in
            defaults.set(true, forKey: "bool")
            defaults.set(1, forKey: "int")
            defaults.set(1.0, forKey: "double")
            defaults.set("text", forKey: "string")
            defaults.set(date, forKey: "date")
            defaults.set(Data([1, 2]), forKey: "data")
            defaults.set(["a", "b"], forKey: "array")
            defaults.set(["k": [1, 2]], forKey: "dictionary")
            defaults.set(URL(string: "https://example.org/a"), forKey: "url")
            defaults.set(nil as Any?, forKey: "none")
            return []
        }
        let told = try await run { defaults in
            [
                "\(defaults.object(forKey: "bool") as? Bool == true)",
                "\(defaults.object(forKey: "int") as? Int == 1)",
                "\(defaults.object(forKey: "double") as? Double == 1)",
                "\(defaults.string(forKey: "string") == "text")",
                "\(defaults.object(forKey: "date") as? Date == date)",
                "\(defaults.data(forKey: "data") == Data([1, 2]))",
                "\(defaults.stringArray(forKey: "array") == ["a", "b"])",
                "\(defaults.dictionary(forKey: "dictionary")?["k"] as? [Int] == [1, 2])",
                "\(defaults.url(forKey: "url")?.absoluteString == "https://example.org/a")",
                "\(defaults.object(forKey: "none") == nil)", "\(defaults.synchronize())",
            ]
        }
        #expect(told == Array(repeating: "true", count: 11))
    }

    @Test func `Accessors convert as Apple's do`() async throws {
        let told = try await run { defaults in
            defaults.set("12", forKey: "text")
            defaults.set(2.9, forKey: "number")
            defaults.set(true, forKey: "truth")
            defaults.set("YES", forKey: "yes")
            return [
                "\(defaults.integer(forKey: "text"))", "\(defaults.integer(forKey: "number"))",
                "\(defaults.integer(forKey: "truth"))", "\(defaults.double(forKey: "text"))",
                "\(defaults.bool(forKey: "yes"))", "\(defaults.bool(forKey: "number"))",
                defaults.string(forKey: "number") ?? "", "\(defaults.integer(forKey: "none"))",
            ]
        }
        #expect(told == ["12", "2", "1", "12.0", "true", "true", "2.9", "0"])
    }

    @Test
    func `Registered defaults apply where no value is set, until the process ends`()
        async throws
    {
        let told = try await run { defaults in
            defaults.register(defaults: ["registered": 5])
            let before = defaults.integer(forKey: "registered")
            defaults.set(6, forKey: "registered")
            let set = defaults.integer(forKey: "registered")
            defaults.removeObject(forKey: "registered")
            return ["\(before)", "\(set)", "\(defaults.integer(forKey: "registered"))"]
        }
        #expect(told == ["5", "6", "5"])
        #expect(
            try !String(contentsOf: file("standard.json"), encoding: .utf8).contains("registered")
        )
    }

    @Test func `Suites and plugins have files of their own`() async throws {
        let other = directory.appending(path: "other", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        _ = try await run { defaults in
            defaults.set(1, forKey: "a")
            UserDefaults(suiteName: "group.example/../x")?.set(2, forKey: "a")
            return []
        }
        let told = try await run { defaults in
            let suite = UserDefaults(suiteName: "group.example/../x")
            return ["\(defaults.integer(forKey: "a"))", "\(suite?.integer(forKey: "a") ?? -1)"]
        }
        #expect(told == ["1", "2"])
        #expect(try await run(in: other) { ["\($0.integer(forKey: "a"))"] } == ["0"])
        let names = try FileManager.default.contentsOfDirectory(atPath: file("").path)
            .filter { $0.hasSuffix(".json") }.sorted()
        #expect(names == ["standard.json", "suite.group.example_2f.._2fx.json"])
    }

    @Test func `A change of another process is seen at once`() async throws {
        let path = file("standard.json")
        let told = try await run { defaults in
            defaults.set("old", forKey: "a")
            let text = try String(contentsOf: path, encoding: .utf8)
            try Data(text.replacing("old", with: "newer").utf8).write(to: path, options: .atomic)
            let seen = defaults.string(forKey: "a") ?? ""
            defaults.set("b", forKey: "b")
            return [seen, defaults.string(forKey: "a") ?? ""]
        }
        #expect(told == ["newer", "newer"])
    }

    @Test func `A damaged file is moved aside and logged`() async throws {
        let plugin = Plugin(id: "org.example.defaults", version: "1") {
            Handler("a") { _ in
                UserDefaults.standard.set(1, forKey: "a")
                return UserDefaults.standard.integer(forKey: "a")
            }
        }
        try FileManager.default.createDirectory(at: file(""), withIntermediateDirectories: true)
        try Data("{".utf8).write(to: file("standard.json"))
        let host = try TestHost(plugin, dataDirectory: directory)
        #expect(try await host.launch("a").result == "1")
        #expect(try String(contentsOf: file("standard.json.damaged"), encoding: .utf8) == "{")
        #expect(host.logs.contains { $0.message.contains("are damaged") })
    }

    @Test func `A change that cannot be stored is logged, and this process sees it`() async throws {
        // A file where the folder should be: root would pass over modes.
        try Data().write(to: directory.appending(path: "Preferences"))
        let plugin = Plugin(id: "org.example.defaults", version: "1") {
            Handler("a") { _ in
                UserDefaults.standard.set(1, forKey: "a")
                let kept = UserDefaults.standard.synchronize()
                UserDefaults.standard.set(URLSession.shared, forKey: "b")
                return ["\(UserDefaults.standard.integer(forKey: "a"))", "\(kept)"]
            }
        }
        let host = try TestHost(plugin, dataDirectory: directory)
        #expect(try await host.launch("a").result(as: [String].self) == ["1", "false"])
        #expect(host.logs.contains { $0.message.contains("is not kept") })
        #expect(host.logs.contains { $0.message.contains("is no property list") })
    }

    @Test func `A stored property is a value of the defaults`() async throws {
        struct Settings {
            @AppStorage("count") var count = 3
            @AppStorage("name") var name = "none"
        }
        let told = try await run { defaults in
            let settings = Settings()
            let before = settings.count
            settings.count += 1
            settings.name = "Ada"
            return ["\(before)", "\(defaults.integer(forKey: "count"))", settings.name]
        }
        #expect(told == ["3", "4", "Ada"])
    }

    @Test func `A stored property reads a number of another type if that is exact`() async throws {
        struct Settings {
            @AppStorage("whole") var whole = 0.5
            @AppStorage("half") var half = 3
            @AppStorage("even") var even = 3
            @AppStorage("one") var one = false
            @AppStorage("text") var text = 0.5
        }
        let told = try await run { defaults in
            defaults.set(7, forKey: "whole")
            defaults.set(1.5, forKey: "half")
            defaults.set(2.0, forKey: "even")
            defaults.set(1, forKey: "one")
            defaults.set("9", forKey: "text")
            let settings = Settings()
            return [
                "\(settings.whole)", "\(settings.half)", "\(settings.even)", "\(settings.one)",
                "\(settings.text)",
            ]
        }
        #expect(told == ["7.0", "3", "2", "true", "0.5"])
    }
}
