// SPDX-License-Identifier: Apache-2.0

@testable import BghostPlugin
import BghostTestSupport
import CBghost
import Glibc
import Testing

/// Tables in which any word may be anything: each is either refused or read, and nothing faults.
@Suite(.timeLimit(.minutes(5))) struct DescriptorMutationTests {
    private static let pluginBytes = MemoryLayout<bg_plugin>.size
    private static let taskBytes = MemoryLayout<bg_task>.size

    @Test(arguments: SeededGenerator.seeds(4)) func `Random words are read or refused`(seed: UInt64)
        throws
    {
        var generator = SeededGenerator(seed: seed)
        let table = try #require(try EntryTable("good").pointer)
        let good = table.loadUnaligned(as: bg_plugin.self)
        let firstTask = try #require(good.tasks?.pointee)
        let plugin = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.pluginBytes,
            alignment: 8
        )
        let task = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.taskBytes, alignment: 8)
        let list = UnsafeMutablePointer<UnsafePointer<bg_task>?>.allocate(capacity: 256)
        defer {
            plugin.deallocate()
            task.deallocate()
            list.deallocate()
        }
        let note = PluginNote(abiMajor: 1, abiMinor: 0, id: "test.good")
        list.initialize(
            repeating: UnsafeRawPointer(task.baseAddress)?
                .assumingMemoryBound(to: bg_task.self),
            count: 256
        )

        let tasksOffset = try #require(MemoryLayout<bg_plugin>.offset(of: \.tasks))
        var accepted = 0
        for _ in 0..<1500 {
            plugin.copyMemory(from: UnsafeRawBufferPointer(start: table, count: Self.pluginBytes))
            task.copyMemory(from: UnsafeRawBufferPointer(start: firstTask, count: Self.taskBytes))
            plugin.storeBytes(
                of: UnsafeRawPointer(list),
                toByteOffset: tasksOffset,
                as: UnsafeRawPointer.self
            )
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let target = Bool.random(using: &generator) ? plugin : task
                let offset = Int.random(in: 0..<target.count / 4, using: &generator) * 4
                let word = interesting(&generator, near: UInt64(UInt(bitPattern: table)))
                if offset % 8 == 0, Bool.random(using: &generator) {
                    target.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
                } else {
                    target.storeBytes(
                        of: UInt32(truncatingIfNeeded: word),
                        toByteOffset: offset,
                        as: UInt32.self
                    )
                }
            }
            if (try? PluginDescriptor.read(plugin.baseAddress, note: note)) != nil { accepted += 1 }
        }
        #expect((200...1400).contains(accepted))
    }

    private func interesting(_ generator: inout SeededGenerator, near address: UInt64) -> UInt64 {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: 0
        case 1: .max
        case 2: .random(in: 0...300, using: &generator)
        case 3: 1 << UInt64.random(in: 0..<64, using: &generator)
        case 4: address &+ .random(in: 0...8192, using: &generator)
        case 5: 0xFFFF_FFFF_FF60_0000
        default: .random(in: .min ... .max, using: &generator)
        }
    }
}
