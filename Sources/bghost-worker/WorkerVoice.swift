// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin
internal import BghostWire

/// Says on the work socket what the plugin does.
final class WorkerVoice: RuntimeVoice {
    private let link: WorkerLink

    init(_ link: WorkerLink) {
        self.link = link
    }

    func completed(_ completion: RunCompletion, mayWait: Bool) {
        let isWorn = ForeignFunction.isProcessWorn
        let flags: UInt16 = (completion.isReleased ? 1 : 0) | (isWorn ? 2 : 0)
        link.send(mayWait: mayWait) { packets in
            packets.frame(.completed, flags: flags, subject: completion.run) { fields in
                fields.integer(completion.retryAfterMilliseconds)
                fields.integer(completion.status)
                fields.text(completion.message)
                fields.text(completion.payload)
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

    func call(_ number: UInt64, run: UInt64, _ request: HostRequest) -> Bool {
        let call = Call(number: number, run: run, operation: Call.Operation(request))
        return link.send { call.write(to: &$0) }
    }
}

extension Call.Operation {
    fileprivate init(_ request: HostRequest) {
        switch request {
        case .submit(let task, let parameters, let kind, let earliest, let needs):
            self = .submit(
                task: task,
                parameters: parameters,
                kind: kind,
                earliestUnixMilliseconds: earliest,
                needs: needs
            )
        case .cancelPending(let task): self = .cancelPending(task: task)
        case .cancelAllPending: self = .cancelAllPending
        case .pending: self = .pending
        case .fetch(let fetch):
            self = .fetch(
                FetchCall(
                    url: fetch.url,
                    method: fetch.method,
                    headers: fetch.headers,
                    body: fetch.body,
                    bodyFile: fetch.bodyFile,
                    sendsDigest: fetch.sendsDigest,
                    bytesMax: fetch.bytesMax,
                    timeoutMilliseconds: fetch.timeoutMilliseconds
                )
            )
        case .cancelFetch(let call): self = .cancelFetch(call: call)
        }
    }
}
