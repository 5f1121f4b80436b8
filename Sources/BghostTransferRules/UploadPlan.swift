// SPDX-License-Identifier: Apache-2.0

/// One request of an upload.
package enum UploadStep: Equatable, Sendable {
    /// Ask which protocol the server supports.
    case ask
    /// Send the whole file.
    case send
    /// Create the upload at the server.
    case create
    /// Ask how many bytes have arrived.
    case locate
    /// Send the remaining bytes.
    case append(from: Int64)
}

/// The meaning of a response to a step.
package enum UploadVerdict: Equatable, Sendable {
    /// The next step follows at once.
    case proceed
    /// The server has the whole file.
    case complete
    case fault(TransferFault)
}

/// The requests of one upload attempt, in the order that the responses determine.
///
/// ```
///                 whole ─► send ─────────────────────────────────► complete
///  ask ─► dialect                    ┌──── 409: again ───┐         ▲
///                 tus, ietf ─► create ─► (place) ─► locate ─► append ─┘
///                                ▲          gone: afresh │
///                                └───────────────────────┘
/// ```
package struct UploadPlan: Equatable, Sendable {
    /// The state that the next attempt continues with.
    package private(set) var point: TransferPoint
    private let form: UploadForm
    private let size: Int64
    /// The number of bytes at the server; `nil` until the server has sent it in this attempt.
    private var offset: Int64?

    /// Creates the plan of an attempt that continues where the last one ended.
    package init(form: UploadForm, size: Int64, point: TransferPoint) {
        self.form = form
        self.size = size
        self.point = point
        switch form {
        case .whole, .multipart: self.point.dialect = .whole
        case .tus: self.point.dialect = .tus
        case .ietf: self.point.dialect = .ietf
        case .negotiated: break
        }
    }

    /// The next step.
    package var next: UploadStep {
        switch point.dialect {
        case nil: .ask
        case .whole: .send
        case .tus, .ietf:
            if point.uploadURL == nil {
                .create
            } else if let offset {
                .append(from: offset)
            } else {
                .locate
            }
        }
    }

    /// The method of a step; `nil` means the request's method.
    package func method(of step: UploadStep) -> String? {
        switch step {
        case .ask: "OPTIONS"
        case .send: nil
        case .create: point.dialect == .tus ? "POST" : nil
        case .locate: "HEAD"
        case .append: "PATCH"
        }
    }

    /// The headers of a step, in addition to those of the request.
    package func headers(of step: UploadStep) -> [TransferHeader] {
        let isTus = point.dialect == .tus
        let version =
            isTus
            ? TransferHeader("Tus-Resumable", "1.0.0")
            : TransferHeader("Upload-Draft-Interop-Version", "6")
        switch step {
        // Send both headers, since the server's protocol is not known yet.
        case .ask:
            return [
                TransferHeader("Tus-Resumable", "1.0.0"),
                TransferHeader("Upload-Draft-Interop-Version", "6"),
            ]
        case .send: return []
        case .create:
            let length = TransferHeader("Upload-Length", String(size))
            return isTus ? [version, length] : [version, length, Self.complete(false)]
        case .locate: return [version]
        case .append(let from):
            let offset = TransferHeader("Upload-Offset", String(from))
            guard !isTus else {
                let type = TransferHeader("Content-Type", "application/offset+octet-stream")
                return [version, offset, type]
            }
            let type = TransferHeader("Content-Type", "application/partial-upload")
            return [version, offset, type, Self.complete(true)]
        }
    }

    /// Handles the response to the current step.
    ///
    /// - Parameter location: the answer's `Location`, as an absolute URL.
    package mutating func handle(_ head: AnswerHead, location: String?) -> UploadVerdict {
        switch next {
        case .ask: handleOffset(head)
        case .send:
            (200...299).contains(head.status) ? .complete : .fault(Self.fault(of: head))
        case .create: create(head, location)
        case .locate: locate(head)
        case .append(let from): append(head, from)
        }
    }

    private mutating func handleOffset(_ head: AnswerHead) -> UploadVerdict {
        if TransferFault.isTransient(head.status) { return .fault(Self.fault(of: head)) }
        let versions = head["tus-version"] ?? ""
        let extensions = head["tus-extension"] ?? ""
        if !(200...299).contains(head.status) {
            point.dialect = .whole
        } else if head["upload-limit"] != nil {
            point.dialect = .ietf
        } else if Self.list(versions).contains("1.0.0"), Self.list(extensions).contains("creation")
        {
            point.dialect = .tus
        } else {
            point.dialect = .whole
        }
        return .proceed
    }

    private mutating func create(_ head: AnswerHead, _ location: String?) -> UploadVerdict {
        guard (200...299).contains(head.status) else { return .fault(Self.fault(of: head)) }
        guard head.status == 201, let location else {
            return .fault(
                TransferFault(
                    .contradiction,
                    "the server made no place for a resumable upload: it may not speak the"
                        + " protocol that was asked for",
                    status: head.status
                )
            )
        }
        point.uploadURL = location
        point.bytes = 0
        offset = 0
        return .proceed
    }

    private mutating func locate(_ head: AnswerHead) -> UploadVerdict {
        guard (200...299).contains(head.status) else { return gone(head) }
        guard let offset = head.number("upload-offset"), offset <= size,
            head.number("upload-length") ?? size == size
        else {
            return afresh("says of the upload what cannot be", head)
        }
        self.offset = offset
        point.bytes = offset
        guard offset == size else { return .proceed }
        // In the draft, all bytes may have arrived before the upload is marked as complete.
        return point.dialect == .tus || head["upload-complete"] == "?1" ? .complete : .proceed
    }

    private mutating func append(_ head: AnswerHead, _ from: Int64) -> UploadVerdict {
        guard (200...299).contains(head.status) else {
            // After any error, only the server knows how many bytes have arrived.
            offset = nil
            if [404, 410].contains(head.status) { return gone(head) }
            guard [409, 460].contains(head.status) else { return .fault(Self.fault(of: head)) }
            return .fault(
                TransferFault(
                    .incomplete,
                    "the server did not take what was sent from byte \(from) on",
                    status: head.status
                )
            )
        }
        guard point.dialect == .tus else {
            // The response to the whole upload, from the server's application.
            guard head["upload-complete"] != "?0" else {
                return afresh("does not take the end of the upload for its end", head)
            }
            point.bytes = size
            return .complete
        }
        guard let reached = head.number("upload-offset"), reached >= from, reached <= size else {
            return afresh("says of the upload what cannot be", head)
        }
        point.bytes = reached
        offset = reached
        if reached == size { return .complete }
        guard reached > from else {
            return .fault(TransferFault(.incomplete, "the server took nothing of what was sent"))
        }
        return .proceed
    }

    /// Handles an upload that the server no longer knows: the next attempt creates a new one.
    private mutating func gone(_ head: AnswerHead) -> UploadVerdict {
        guard [403, 404, 410].contains(head.status) else { return .fault(Self.fault(of: head)) }
        return afresh("does not know the upload any more", head)
    }

    private mutating func afresh(_ what: String, _ head: AnswerHead) -> UploadVerdict {
        forget()
        return .fault(
            TransferFault(.contradiction, "the server \(what)", status: head.status)
        )
    }

    /// Discards the URL and the position, so that the next attempt creates a new upload.
    private mutating func forget() {
        point.uploadURL = nil
        point.bytes = 0
        offset = nil
    }

    private static func complete(_ isComplete: Bool) -> TransferHeader {
        TransferHeader("Upload-Complete", isComplete ? "?1" : "?0")
    }

    private static func list(_ text: String) -> [Substring] {
        text.split { $0 == "," || $0 == " " }
    }

    private static func fault(of head: AnswerHead) -> TransferFault {
        TransferFault(
            .status,
            "the server answered with status \(head.status)",
            status: head.status
        )
    }
}
