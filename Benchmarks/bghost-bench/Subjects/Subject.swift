// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A thing that is measured in this process.
///
/// It prints lines of `metric value`.
struct Subject {
    /// How often.
    let count: Int
    /// What `--files` of the bench was.
    let files: String
    let programs: String
    let words: [String]

    /// Runs `NAME COUNT FILES PROGRAMS [WORD…]`.
    static func run(_ words: [String]) async throws {
        guard words.count >= 4, let count = Int(words[1]) else {
            throw UsageError(description: "subject wants NAME COUNT FILES PROGRAMS")
        }
        let subject = Subject(
            count: count,
            files: words[2],
            programs: words[3],
            words: Array(words[4...])
        )
        switch words[0] {
        case "hop": await subject.hop()
        case "group": await subject.group()
        case "sleep-limit": await subject.sleepLimit()
        case "timer": subject.timer()
        case "round-trip": try await subject.roundTrip()
        case "throughput": try await subject.throughput()
        case "first-instruction": try await subject.firstInstruction()
        case "bwrap": try subject.bubblewrap()
        case "expiry": try await subject.expiry()
        case "kill": try await subject.kill()
        case "kill-tree": try await subject.killTree()
        case "ready": try subject.ready()
        case "workers": try await subject.workers()
        case "durable-lone": try subject.durableLone()
        case "durable-flight": try subject.durableFlight()
        case "socket-submit": try subject.socketSubmit()
        case "pending": try subject.pending()
        case "events": try subject.events()
        case "scan": try subject.scan()
        case "recover": try subject.recover()
        case "restart": try subject.restart()
        case "waiting": try await subject.waiting()
        case "transfer": try await subject.transfer()
        case "client": try subject.client()
        case "files": try await subject.manyFiles()
        case "in-flight": try await subject.transfersInFlight()
        case "resume": try await subject.resume()
        case "history": try subject.history()
        case "paint": try subject.paint()
        case "watched": try subject.watched()
        case "scrape": try subject.scrape()
        case "stalls": try subject.stalls()
        default: throw UsageError(description: "there is no subject `\(words[0])`")
        }
    }
}

/// Processors of this machine.
enum Processor {
    static var count: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }
}
