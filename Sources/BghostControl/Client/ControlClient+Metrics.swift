// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import BghostMetrics
internal import NIOCore
internal import NIOHTTP1

extension ControlClient {
    /// The daemon's metrics, in the text format 0.0.4 of Prometheus.
    package func metrics() async throws -> String {
        let response = try await send(.GET, ControlPath(root: "metrics"), within: Self.callTime)
        let buffer: ByteBuffer
        do {
            buffer = try await response.body.collect(upTo: Self.answerBytesMax)
        } catch {
            throw fault(of: error)
        }
        let type = response.headers.first(name: "Content-Type")
        guard response.status == .ok, type == MetricsFormat.prometheus.contentType else {
            throw unreadable(response.headers.first(name: Self.versionField))
        }
        return String(buffer: buffer)
    }
}
