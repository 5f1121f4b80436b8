// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import HTTPTypes
import Hummingbird

/// `PUT /photos/{name}`: accepts a photo if it has the announced digest.
struct PhotoRoute {
    let recorder: Recorder
    let mishaps: Mishaps
    let now: @Sendable () -> Date

    struct Receipt: Encodable {
        var sha256: String
        var bytes: Int
    }

    /// - Parameter segment: the name in the path, percent-encoded.
    func put(
        _ request: Request,
        segment: String,
        _ context: StationContext
    ) async throws -> Response {
        var intake = try PhotoIntake(name: percentDecoded(segment), request.headers)
        let mishap = mishaps.next(at: .photo)
        switch mishap {
        case .redirect: return .elsewhere(request)
        case .refuse: return .busy
        case nil, .hold, .cut, .lie: break
        }
        let length = request.headers[.contentLength].flatMap(Int.init)
        if let length, length > PhotoIntake.bytesMax { throw PhotoIntake.tooLarge }
        intake.beginPiece()
        for try await buffer in request.body {
            intake.take(buffer)
            guard intake.bytes <= PhotoIntake.bytesMax else { throw PhotoIntake.tooLarge }
            if mishap == .cut, intake.bytes >= (length ?? 0) / 2 { throw await context.cut() }
        }
        if mishap == .hold { await mishaps.hold(at: .photo) }
        let entry = intake.entry(at: now(), userAgent: request.userAgent)
        recorder.add(entry)
        guard entry.verified else { throw PhotoIntake.wrongDigest(entry) }
        return try .json(Receipt(sha256: entry.sha256, bytes: entry.bytes), status: .created)
    }
}
