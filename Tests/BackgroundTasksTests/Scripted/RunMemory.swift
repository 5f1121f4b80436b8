// SPDX-License-Identifier: Apache-2.0

import CBghost

/// The data of a run for its handler, in memory of the host.
final class RunMemory: @unchecked Sendable {
    // @unchecked: the host writes it only before it is shared and after its last reader is done.
    struct Setting: Sendable {
        var identifier: String
        var parameters: String
        var attempt: UInt32
        var directory: String
        /// Monotonic nanoseconds.
        var deadline: Int64
        var graceMilliseconds: UInt32
        var resultBytesMax: UInt32
    }

    let number: bg_run
    let task: UnsafePointer<bg_task>
    let info = UnsafeMutablePointer<bg_run_info>.allocate(capacity: 1)
    private let texts: UnsafeMutableRawBufferPointer

    init(_ number: bg_run, of task: UnsafePointer<bg_task>, _ setting: Setting) {
        self.number = number
        self.task = task
        let parts = [setting.identifier, setting.parameters, setting.directory].map {
            Array($0.utf8)
        }
        texts = .allocate(byteCount: parts.joined().count, alignment: 1)
        texts.copyBytes(from: parts.joined())
        var offset = 0
        let strings = parts.map { part in
            defer { offset += part.count }
            return bg_str(
                ptr: texts.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self),
                len: part.count
            )
        }
        var told = bg_run_info()
        told.size = UInt32(MemoryLayout<bg_run_info>.size)
        told.attempt = setting.attempt
        told.run = number
        told.task_id = strings[0]
        told.params = strings[1]
        told.data_dir = strings[2]
        told.deadline_mono_ns = setting.deadline
        told.grace_ms = setting.graceMilliseconds
        told.max_result = setting.resultBytesMax
        told.cancel_fd = -1
        told.flags = UInt32(BG_RUN_WORKER)
        told.task = task
        info.initialize(to: told)
    }

    deinit {
        info.deallocate()
        texts.deallocate()
    }

    /// Overwrites all of it, as a host may after the run is complete and its calls have returned.
    func overwrite() {
        texts.initializeMemory(as: UInt8.self, repeating: 0xAA)
        UnsafeMutableRawBufferPointer(start: info, count: MemoryLayout<bg_run_info>.size)
            .initializeMemory(as: UInt8.self, repeating: 0xAA)
    }
}
