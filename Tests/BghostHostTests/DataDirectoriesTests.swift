// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostHost
import BghostLinux
import BghostModel
@testable import BghostServices
import BghostTestSupport
@testable import BghostTransfer
import BghostTransferBridge
import Glibc
import Testing

/// The owner of the data directories, without a daemon and without a process.
@Suite struct DataDirectoriesTests {
    private static let second: UInt64 = 1_000_000_000

    /// An owner, a folder, and the measurements of it.
    private final class Bench {
        let threads = BlockingThreads()
        let directories: DataDirectories
        let folder: TemporaryDirectory
        let measurements: AsyncStream<DataDirectories.Measurement>
        private let done: AsyncStream<DataDirectories.Measurement>.Continuation

        init() throws {
            directories = DataDirectories(threads)
            folder = try TemporaryDirectory()
            (measurements, done) = AsyncStream.makeStream()
        }

        deinit { threads.end() }

        var limits: DataDirectories.Limits {
            var limits = WorkerLimits()
            limits.dataBytes = 1 << 20
            limits.files = 10
            return DataDirectories.Limits(limits)
        }

        func measure(at now: MonotonicInstant) {
            directories.measure("photos", in: folder.path, limits, of: [], now: now) {
                [done] measurement in
                done.yield(measurement)
            }
        }

        /// The next measurement; every call of `measure` that began one has to be awaited.
        func next() async throws -> DataDirectories.Measurement {
            var iterator = measurements.makeAsyncIterator()
            return try #require(await iterator.next())
        }

        /// The measurements so far; none may follow.
        func rest() async -> Int {
            // The thread works in order, so what follows this work comes too late to be counted.
            await withCheckedContinuation { continuation in
                guard let thread = threads.existingThread(for: .data) else {
                    return continuation.resume()
                }
                thread.perform { continuation.resume() }
            }
            done.finish()
            return await measurements.reduce(0) { count, _ in count + 1 }
        }
    }

    @Test func `Measurements of a folder do not overlap, and are a second apart`() async throws {
        let bench = try Bench()
        bench.measure(at: 1)
        bench.measure(at: 2)
        let first = try await bench.next()
        #expect(first.usage.problem == nil)
        // Until the host has handled the result, no other one begins.
        bench.measure(at: .zero + 100 * Self.second)
        bench.directories.measured("photos", took: 7, used: 7, now: 10)
        bench.measure(at: 9 + Self.second)
        bench.measure(at: 10 + Self.second)
        _ = try await bench.next()
        #expect(await bench.rest() == 0)
    }

    /// A plugin can make its folder slow to measure, and writes until it is measured again.
    @Test(
        arguments: [
            // Its processor time and the elapsed time of a measurement, and the pause after it; milliseconds.
            (100, 100, 2000), (100, 1500, 2000), (1000, 1000, 5000), (3000, 3000, 12000),
            (10, 30000, 30000),
        ]
    )
    func `A slow folder is measured less often, but not much less`(
        used: UInt64,
        took: UInt64,
        pause: UInt64
    ) async throws {
        let bench = try Bench()
        bench.measure(at: 1)
        _ = try await bench.next()
        let (used, took, next) = (used * 1_000_000, took * 1_000_000, pause * 1_000_000)
        bench.directories.measured("photos", took: took, used: used, now: 0)
        bench.measure(at: .zero + next - 1)
        bench.measure(at: .zero + next)
        _ = try await bench.next()
        #expect(await bench.rest() == 0)
    }

    @Test func `A deleted file that the daemon still sends counts`() async throws {
        let bench = try Bench()
        let file = try bench.folder.write([UInt8](repeating: 1, count: 2 << 20), to: "photo")
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(unlink(file) == 0)
        bench.measure(at: 1)
        #expect(try await bench.next().usage.problem == .tooLarge)
    }

    @Test func `A skipped measurement is made up for`() async throws {
        let bench = try Bench()
        bench.measure(at: 1)
        #expect(bench.directories.skippedUntil("photos") == nil)
        bench.measure(at: 2)
        // Its result will say when.
        #expect(bench.directories.skippedUntil("photos") == nil)
        _ = try await bench.next()
        bench.directories.measured("photos", took: 0, used: 0, now: 10)
        #expect(
            bench.directories.skippedUntil("photos")
                == MonotonicInstant(nanoseconds: 10 + Self.second)
        )
        bench.measure(at: 10 + Self.second)
        _ = try await bench.next()
        bench.directories.measured("photos", took: 0, used: 0, now: 20 + Self.second)
        #expect(bench.directories.skippedUntil("photos") == nil)
        bench.measure(at: 30 + Self.second)
        #expect(
            bench.directories.skippedUntil("photos")
                == MonotonicInstant(nanoseconds: 20 + 2 * Self.second)
        )
        bench.directories.forget(["photos"])
        #expect(bench.directories.skippedUntil("photos") == nil)
        #expect(await bench.rest() == 0)
    }

    @Test func `A transfer finds the space that the last measurement left`() async throws {
        let bench = try Bench()
        let room = bench.directories.room(
            of: "photos",
            in: bench.folder.path,
            bench.limits
        ) {}
        _ = try bench.folder.write([UInt8](repeating: 1, count: 900 << 10), to: "photo")
        #expect(room.reserve(500 << 10), "the folder is not measured yet")
        room.release(500 << 10)
        await bench.directories.measureRoom(of: "photos", bench.limits)
        #expect(!room.reserve(500 << 10))
        #expect(room.reserve(50 << 10))
    }

    @Test func `A folder that cannot be counted has no space`() async throws {
        let bench = try Bench()
        let room = bench.directories.room(
            of: "photos",
            in: bench.folder.path,
            bench.limits
        ) {}
        for number in 0...10 { _ = try bench.folder.write([], to: "\(number)") }
        bench.measure(at: 1)
        #expect(try await bench.next().usage.problem == .tooManyEntries)
        #expect(!room.reserve(1))
        bench.directories.measured("photos", took: 0, used: 0, now: 1)
        #expect(unlink(bench.folder.file("0")) == 0)
        #expect(unlink(bench.folder.file("1")) == 0)
        bench.measure(at: .zero + 2 * Self.second)
        #expect(try await bench.next().usage.problem == nil)
        #expect(room.reserve(1))
    }

    @Test func `A reload keeps what is reserved, and changes the limit`() throws {
        let bench = try Bench()
        func room(_ bytesMax: UInt64) -> DataRoom {
            var limits = bench.limits
            limits.bytes = bytesMax
            return bench.directories.room(of: "photos", in: bench.folder.path, limits) {}
        }
        let before = room(1 << 20)
        #expect(before.reserve(800 << 10))
        #expect(!before.reserve(800 << 10))
        let after = room(2 << 20)
        #expect(after === before)
        #expect(after.reserve(800 << 10))
        // Also a plugin that was removed and comes back.
        bench.directories.forget(["photos"])
        #expect(room(1 << 20) === before)
    }

    @Test func `A plugin removed during a measurement is measured when it returns`()
        async throws
    {
        let bench = try Bench()
        bench.measure(at: 1)
        bench.directories.forget(["photos"])
        _ = try await bench.next()
        bench.directories.measured("photos", took: 0, used: 0, now: 2)
        bench.measure(at: 3)
        _ = try await bench.next()
        #expect(await bench.rest() == 0)
    }
}
