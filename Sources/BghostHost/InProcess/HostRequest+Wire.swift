// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin
internal import BghostWire

extension Call.Operation {
    init(_ request: HostRequest) {
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
