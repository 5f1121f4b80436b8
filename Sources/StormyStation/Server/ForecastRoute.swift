// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /v1/forecast`: responds like Open-Meteo, with headers for resuming a download.
struct ForecastRoute {
    let recorder: Recorder
    let mishaps: Mishaps
    let editions: Editions
    let now: @Sendable () -> Date

    func get(_ request: Request, _ context: StationContext) throws -> Response {
        let mishap = mishaps.next(at: .forecast)
        switch mishap {
        case .redirect: return .elsewhere(request)
        case .refuse: return .busy
        case nil, .hold, .cut, .lie: break
        }
        let begun = ContinuousClock.now
        let parameters = request.uri.queryParameters
        let query = try ForecastQuery { parameters[Substring($0)].map(String.init) }
        let at = now()
        var forecast = Forecast(query: query, now: at)
        forecast.generationtime_ms = (ContinuousClock.now - begun) / .milliseconds(1)
        let part = try editions.part(for: request) {
            ByteBuffer(bytes: try RecordCoding.encoder().encode(forecast))
        }
        let number = recorder.add(
            ForecastEntry(
                at: at,
                latitude: query.latitude,
                longitude: query.longitude,
                hours: forecast.hours,
                stormHours: forecast.stormHours,
                userAgent: request.userAgent,
                bytes: part.whole,
                from: part.from
            )
        )
        return Response(
            status: part.from == 0 ? .ok : .partialContent,
            headers: part.headers,
            body: body(of: part.bytes, number, mishap, context)
        )
    }

    private func body(
        of bytes: ByteBuffer,
        _ number: Recorder.Number,
        _ mishap: Mishaps.Kind?,
        _ context: StationContext
    ) -> ResponseBody {
        ResponseBody(contentLength: bytes.readableBytes) { [recorder, mishaps, now] writer in
            var rest = bytes
            // Count the bytes before sending them: a client that has them must find them in the record.
            if mishap == .hold || mishap == .cut {
                let half = rest.readSlice(length: rest.readableBytes / 2) ?? ByteBuffer()
                recorder.sends(half.readableBytes, of: number)
                try await writer.write(half)
            }
            if mishap == .hold { await mishaps.hold(at: .forecast) }
            if mishap == .cut { throw await context.cut() }
            if mishap == .lie, let last = rest.readableBytesView.last {
                rest.setInteger(last ^ 1, at: rest.writerIndex - 1)
            }
            recorder.sends(rest.readableBytes, of: number, completeAt: now())
            try await writer.write(rest)
            try await writer.finish(nil)
        }
    }
}
