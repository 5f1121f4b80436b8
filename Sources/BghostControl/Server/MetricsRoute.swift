// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostLinux
internal import BghostMetrics
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The metrics of the daemon, in the format that the client can read.
struct MetricsRoute: Sendable {
    let host: any HostControl
    let meter: RequestMeter

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.metrics) { request, _ in await answer(request) }
    }

    private func answer(_ request: Request) async -> Response {
        let format = MetricsFormat(accept: request.headers[.accept] ?? "")
        var snapshot = await host.metrics()
        // On this thread: the reactor's thread reads no files.
        snapshot.process = OwnProcess().map { own in
            MetricsSnapshot.Process(
                processorTime: own.processorTime,
                residentBytes: own.residentBytes,
                openDescriptors: own.openDescriptors
            )
        }
        for index in snapshot.plugins.indices {
            let memory = snapshot.plugins[index].workers.compactMap(ProcessMemory.resident)
            snapshot.plugins[index].memoryBytes = memory.reduce(0, +)
        }
        snapshot.storeBytes = snapshot.storeFiles.compactMap(FileSize.of).reduce(0, +)
        snapshot.endpoints = meter.byName
        return Response(
            status: .ok,
            headers: [.contentType: format.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: snapshot.text(format)))
        )
    }
}
