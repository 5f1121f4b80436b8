// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import BghostAPI
internal import BghostBase
internal import BghostControl
internal import BghostModel

extension CompletionKind {
    /// The tasks of the daemon that the command line names.
    package static let taskNames = CompletionKind.custom { words, _, prefix in
        await NameCompletion.names(words, prefix) { client in
            try await client.status().value.tasks.map(\.identifier)
        }
    }

    /// The plugins and functions of the daemon that the command line names.
    package static let pluginNames = CompletionKind.custom { words, _, prefix in
        await NameCompletion.names(words, prefix) { client in
            try await client.status().value.plugins.map(\.name)
        }
    }

    /// The tags of the tasks of the daemon that the command line names.
    package static let tagNames = CompletionKind.custom { words, _, prefix in
        await NameCompletion.names(words, prefix) { client in
            Set(try await client.status().value.tasks.flatMap(\.tags)).sorted()
        }
    }

    /// The ids of the newest runs of the daemon that the command line names.
    package static let runIDs = CompletionKind.custom { words, _, prefix in
        await NameCompletion.names(words, prefix) { client in
            try await client.runs(task: nil, limit: 50).value.map(\.id.description)
        }
    }
}

/// Asks a daemon for names that a shell offers.
enum NameCompletion {
    /// How long a shell waits for a daemon that does not answer: 2 seconds, or what the variable
    /// `BGHOST_COMPLETION_SECONDS` says.
    private static var timeLimit: Duration {
        let seconds = ControlLocation.variable(of: "BGHOST_COMPLETION_SECONDS").flatMap { Int($0) }
        return .seconds(max(1, min(seconds ?? 2, 3600)))
    }
    /// The most names that a shell gets.
    private static let namesMax = 1000

    /// The names that begin like the word at the cursor; none if no daemon answers in time.
    ///
    /// It asks only, so the daemon decides nothing differently afterwards.
    ///
    /// - Parameter words: the words of the command line.
    static func names(
        _ words: [String],
        _ prefix: String,
        _ ask: @escaping @Sendable (ControlClient) async throws -> [String]
    ) async -> [String] {
        let limit = timeLimit
        let found = await withTaskGroup(of: [String].self) { group in
            group.addTask {
                do {
                    let path = try ConnectionOptions.parse(connection(in: words)).socketPath()
                    return try await ControlClient.with(socketPath: path, ask)
                } catch {
                    // A shell has no place for errors; the command itself reports them.
                    return []
                }
            }
            group.addTask {
                // Cancelled when the daemon has answered.
                try? await Task.sleep(for: limit)
                return []
            }
            defer { group.cancelAll() }
            return await group.next() ?? []
        }
        let shown = found.filter { $0.hasPrefix(prefix) && isPlain($0) }
        return Array(Set(shown).sorted().prefix(namesMax))
    }

    /// Names with other characters would have to be quoted for each shell.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }

    /// The options of the command line that name the daemon.
    static func connection(in words: [String]) -> [String] {
        let names: Set<Substring> = ["--control", "--state-dir", "--config", "-c"]
        var found: [String] = []
        var index = 0
        while index < words.count, words[index] != "--" {
            let word = words[index]
            index += 1
            guard names.contains(word.prefix { $0 != "=" }) else { continue }
            if word.contains("=") {
                found.append(word)
            } else if index < words.count {
                found += [word, words[index]]
                index += 1
            }
        }
        return found
    }
}
