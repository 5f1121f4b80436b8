// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostServices
internal import BghostTraces
internal import BghostTransfer

/// The daemon's exporter of traces, with connections of its own: no plugin's fetch delays it.
struct TraceLink: Sendable {
    let exporter: TraceExporter
    private let fetcher: HTTPFetcher

    /// - Parameter settings: `nil` leaves it off until a reload names a receiver.
    init(_ settings: TraceSettings?, _ log: HostLog) {
        // The operator wrote the address, so it may be on this machine or in its network.
        fetcher = HTTPFetcher(reachesLocalNames: true)
        exporter = TraceExporter(fetcher: fetcher, log: log, version: BghostVersion.text)
        exporter.apply(settings)
    }

    /// Sends the last spans within a bound, and closes the connections.
    func shutDown() async {
        await exporter.shutDown()
        await fetcher.shutDown()
    }
}
