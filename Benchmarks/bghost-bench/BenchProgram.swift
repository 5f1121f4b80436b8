// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The bench: measures bghost against floors in the same run.
///
/// Each step of it is a process of its own, so that none inherits another's heap, threads or
/// placement: the floors, and this program again as `bghost-bench subject NAME`.
@main
struct BenchProgram {
    static func main() async {
        var words = Array(CommandLine.arguments.dropFirst())
        do {
            if words.first == "subject" {
                words.removeFirst()
                try await Subject.run(words)
            } else {
                let options = try BenchOptions(words)
                let failed = try Bench(options).run()
                exit(failed ? 1 : 0)
            }
        } catch {
            Remark.write("bghost-bench: \(error)")
            exit(error is UsageError ? 64 : 1)
        }
    }
}

/// What is said beside the results, on stderr.
enum Remark {
    static func write(_ text: String) {
        var line = text + "\n"
        _ = line.withUTF8 { Glibc.write(2, $0.baseAddress, $0.count) }
    }
}

/// Words on the command line that mean nothing.
struct UsageError: Error, CustomStringConvertible {
    let description: String
}

/// A step that did not do what it should.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String
}

/// What the bench was asked for.
struct BenchOptions {
    /// Each step briefly: whether it works, not how fast it is.
    var isShort = false
    var rounds = 5
    /// Where the table is written as JSON.
    var json: String?
    /// Where the floors and the C plugin are, absolute.
    var files = ""
    /// Where `bghost` and `bghost-worker` are; beside this program if not said.
    var programs = Place.programs
    /// Only rows whose name begins so.
    var only: String?

    init(_ words: [String]) throws {
        var rest = words[...]
        func value(of word: String) throws -> String {
            guard let value = rest.popFirst() else {
                throw UsageError(description: "\(word) wants a value")
            }
            return value
        }
        while let word = rest.popFirst() {
            switch word {
            case "--short":
                isShort = true
                rounds = 1
            case "--rounds": rounds = max(1, Int(try value(of: word)) ?? 5)
            case "--json": json = try value(of: word)
            case "--files": files = try value(of: word)
            case "--programs": programs = try value(of: word)
            case "--only": only = try value(of: word)
            default:
                throw UsageError(
                    description: "unknown word `\(word)`; it takes --files DIR [--programs DIR]"
                        + " [--short] [--rounds N] [--json FILE] [--only ROW]"
                )
            }
        }
        guard !files.isEmpty else {
            throw UsageError(description: "--files DIR is missing; Benchmarks/run gives it")
        }
    }
}

/// Where things are.
enum Place {
    /// This program.
    static let program: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let bytes = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }()

    static var programs: String {
        program.split(separator: "/").dropLast().reduce(into: "") { $0 += "/" + $1 }
    }
}
