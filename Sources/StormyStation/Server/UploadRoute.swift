// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOCore

/// Resumable photo uploads by tus 1.0.0 with the extension "creation".
///
/// `OPTIONS` and `POST /photos`, `HEAD` and `PATCH /uploads/{id}`.
struct UploadRoute {
    static let version = "1.0.0"

    let recorder: Recorder
    let mishaps: Mishaps
    let uploads: Uploads
    let now: @Sendable () -> Date

    func options() -> Response {
        answer(
            .noContent,
            [
                .named("Tus-Version"): Self.version,
                .named("Tus-Extension"): "creation",
                .named("Tus-Max-Size"): String(PhotoIntake.bytesMax),
            ]
        )
    }

    /// Creates an upload for a photo, whose name is in `Upload-Metadata`.
    func create(_ request: Request) throws -> Response {
        try checkVersion(request)
        guard let length = request.headers[.uploadLength].flatMap(Int.init), length >= 0 else {
            throw refusal(.badRequest, "Upload-Length must say how many bytes there are")
        }
        guard length <= PhotoIntake.bytesMax else { throw PhotoIntake.tooLarge }
        let name = Self.fileName(in: request.headers[.uploadMetadata] ?? "")
        let id = uploads.add(try PhotoIntake(name: name, request.headers), length: length)
        return answer(.created, [.location: "/uploads/\(id)"])
    }

    func head(_ request: Request, id: String) async throws -> Response {
        try checkVersion(request)
        switch mishaps.next(at: .offset) {
        case .redirect: return .elsewhere(request)
        case .refuse: return .busy
        case .hold: await mishaps.hold(at: .offset)
        case nil, .cut, .lie: break
        }
        guard let upload = uploads[id] else { throw unknown }
        // The bytes of an interrupted connection are still being stored.
        guard !uploads.isBusy(id) else { return .busy }
        return answer(
            .ok,
            [
                .uploadOffset: String(upload.intake.bytes),
                .uploadLength: String(upload.length), .cacheControl: "no-store",
            ]
        )
    }

    func patch(_ request: Request, id: String, _ context: StationContext) async throws -> Response {
        try checkVersion(request)
        guard request.headers[.contentType] == "application/offset+octet-stream" else {
            throw refusal(.unsupportedMediaType, "send application/offset+octet-stream")
        }
        let mishap = mishaps.next(at: .photo)
        switch mishap {
        case .redirect: return .elsewhere(request)
        case .refuse: return .busy
        case nil, .hold, .cut, .lie: break
        }
        let offset = request.headers[.uploadOffset].flatMap(Int.init)
        switch uploads.open(id, at: offset) {
        case .unknown: throw unknown
        case .elsewhere(let bytes):
            throw refusal(.conflict, "the upload goes on at byte \(bytes)")
        case .open(var upload):
            let isCut: Bool
            do {
                // The received bytes count, even if the request fails.
                defer { uploads.close(id, upload) }
                isCut = try await receive(request, &upload, cutting: mishap == .cut)
                if upload.isWhole { try end(&upload, request) }
            }
            // Close the connection last, so that a client that reconnects at once finds all bytes.
            if isCut { throw await context.cut() }
            if mishap == .hold { await mishaps.hold(at: .photo) }
            return answer(.noContent, [.uploadOffset: String(upload.intake.bytes)])
        }
    }

    /// - Parameter isCut: whether to stop after half of the bytes.
    /// - Returns: whether it stopped early.
    private func receive(
        _ request: Request,
        _ upload: inout Uploads.Upload,
        cutting isCut: Bool
    ) async throws -> Bool {
        let missing = upload.length - upload.intake.bytes
        var left = isCut ? missing / 2 : missing
        upload.intake.beginPiece()
        defer { upload.intake.endPiece() }
        for try await var buffer in request.body {
            guard isCut || buffer.readableBytes <= left else {
                throw refusal(.contentTooLarge, "there are more bytes than were announced")
            }
            guard let part = buffer.readSlice(length: min(left, buffer.readableBytes)) else {
                break
            }
            upload.intake.take(part)
            left -= part.readableBytes
            if isCut, left == 0 { return true }
        }
        return false
    }

    private func end(_ upload: inout Uploads.Upload, _ request: Request) throws {
        guard !upload.isRecorded else { return }
        let entry = upload.intake.entry(at: now(), userAgent: request.userAgent)
        recorder.add(entry)
        upload.isRecorded = true
        guard entry.verified else {
            upload.isRefused = true
            throw PhotoIntake.wrongDigest(entry)
        }
    }

    private func checkVersion(_ request: Request) throws(StationError) {
        guard request.headers[.tusResumable] == Self.version else {
            throw refusal(.preconditionFailed, "this station speaks tus \(Self.version)")
        }
    }

    private var unknown: StationError { refusal(.notFound, "there is no such upload") }

    private func refusal(_ status: HTTPResponse.Status, _ reason: String) -> StationError {
        StationError(status, .photos, reason)
    }

    private func answer(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Response {
        var headers = fields
        headers[.tusResumable] = Self.version
        // A response with status 204 has no length.
        if status != .noContent { headers[.contentLength] = "0" }
        return Response(status: status, headers: headers)
    }

    /// The value of `filename` in comma-separated pairs of a key and Base64.
    private static func fileName(in metadata: String) -> String? {
        for pair in metadata.split(separator: ",") {
            let words = pair.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count == 2, words[0] == "filename",
                let name = Data(base64Encoded: String(words[1]))
            else { continue }
            return String(validating: name, as: UTF8.self)
        }
        return nil
    }
}
