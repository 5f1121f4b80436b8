// SPDX-License-Identifier: Apache-2.0

internal import BghostFunctionCalls
internal import BghostPlugin
internal import BghostWire
internal import CBghostSystem

/// Sends the plugin's output on the work socket.
final class WorkerEventSink: RuntimeEventSink {
    private let link: WorkerLink

    init(_ link: WorkerLink) {
        self.link = link
    }

    func completed(_ completion: RunCompletion, mayWait: Bool) {
        // Flush before sending the frame, so that the daemon attributes the output to this run.
        bgs_flush_output()
        let flags: UInt16 =
            (completion.isReleased ? 1 : 0) | (ForeignFunction.isProcessWorn ? 2 : 0)
            | (bgs_has_printed() != 0 ? 4 : 0) | (completion.error == nil ? 0 : 8)
        link.send(mayWait: mayWait) { packets in
            packets.frame(.completed, flags: flags, subject: completion.run) { fields in
                fields.integer(completion.retryAfterMilliseconds)
                fields.integer(completion.status)
                fields.text(completion.message)
                fields.text(completion.payload)
                completion.error?.write(to: &fields)
            }
        }
    }

    func released(_ run: UInt64) {
        link.send { $0.frame(.released, subject: run) }
    }

    func progress(run: UInt64, done: UInt64, total: UInt64, phase: UnsafeRawBufferPointer) {
        link.send { packets in
            packets.frame(.progress, subject: run) { fields in
                fields.integer(done)
                fields.integer(total)
                fields.text(phase)
            }
        }
    }

    func log(run: UInt64, level: UInt8, dropped: UInt32, text: UnsafeRawBufferPointer) {
        link.send { packets in
            packets.frame(.log, flags: UInt16(level), subject: run) { fields in
                fields.integer(dropped)
                fields.text(text)
            }
        }
    }

    func call(_ number: UInt64, run: UInt64, _ operation: Call.Operation) -> Bool {
        let call = Call(number: number, run: run, operation: operation)
        return link.send { call.write(to: &$0) }
    }
}
