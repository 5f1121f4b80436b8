// SPDX-License-Identifier: Apache-2.0

import BghostFuzz
import BghostFuzzServices
import BghostTestSupport
import Glibc
import Testing

/// Each target on its corpus, and on what can be made of it without a look at coverage; `make fuzz`
/// takes the long way.
///
/// After a trap, the input is in `fuzz-input-TARGET` beside the built tests.
///
/// One target after the other: others beside them measure time, and need a processor for that.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(5))) struct FuzzTests {
    static let targets = FuzzTarget.pure + FuzzTarget.services

    /// The processor time that one input may take, the largest included, without optimization.
    private static let limit: Duration = .seconds(3)

    @Test(arguments: targets) func `The corpus passes every fuzz target`(
        target: FuzzTarget
    ) async throws {
        let corpus = try Corpus(target)
        #expect(!corpus.inputs.isEmpty)
        for input in corpus.inputs {
            #expect(problem(target, input.bytes) == nil, "\(input.name)")
            await Task.yield()
        }
    }

    /// A reader that takes quadratic time does not keep to this.
    @Test(arguments: targets) func `Large inputs stay within their time limits`(
        target: FuzzTarget
    ) async throws {
        for input in try Corpus(target).inputs where !input.bytes.isEmpty {
            let times = target.bytesMax / input.bytes.count
            let large = Array(repeatElement(input.bytes, count: times).joined())
            #expect(problem(target, large) == nil, "\(times) times \(input.name)")
            await Task.yield()
        }
    }

    @Test(arguments: targets, SeededGenerator.seeds(1)) func `Mutated inputs pass every target`(
        target: FuzzTarget,
        seed: UInt64
    ) async throws {
        let corpus = try Corpus(target)
        var mutator = Mutator(
            seed: seed,
            corpus: corpus.inputs.map(\.bytes),
            words: corpus.words,
            bytesMax: target.bytesMax
        )
        let record = try InputRecord(target)
        let end = ContinuousClock.now + .milliseconds(500)
        var count = 0
        while count < 20 || ContinuousClock.now < end {
            let input = mutator.next()
            count += 1
            // Tests of other suites run on these few threads too.
            await Task.yield()
            record.keep(input)
            if let problem = problem(target, input) {
                Issue.record("seed \(seed), input \(count), kept in \(record.path): \(problem)")
                return
            }
        }
        record.discard()
    }

    /// What is wrong with what a target makes of an input, or with the time that it takes; `nil` if
    /// nothing is.
    private func problem(_ target: FuzzTarget, _ input: [UInt8]) -> String? {
        let start = Self.processorTime
        do throws(BrokenProperty) {
            try target.run(input)
        } catch {
            return error.description
        }
        let time = Self.processorTime - start
        return time < Self.limit ? nil : "\(input.count) bytes took \(time)"
    }

    /// Of this thread, so that a busy machine does not count.
    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    /// Its name.
    public var testDescription: String { name }
}
