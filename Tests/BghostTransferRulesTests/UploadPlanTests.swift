// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransferRules
import Testing

@Suite struct UploadPlanTests {
    private static func plan(
        _ form: UploadForm,
        url: String? = nil,
        size: Int64 = 100
    ) -> UploadPlan {
        var point = TransferPoint()
        point.uploadURL = url
        return UploadPlan(form: form, size: size, point: point)
    }

    private static func head(_ status: Int, _ fields: [String: String] = [:]) -> AnswerHead {
        AnswerHead(status: status, headers: fields.map { TransferHeader($0.key, $0.value) })
    }

    private static func code(_ verdict: UploadVerdict) -> TransferFault.Code? {
        guard case .fault(let fault) = verdict else { return nil }
        return fault.code
    }

    @Test func `tus creates an upload and sends it`() {
        var plan = Self.plan(.tus)
        #expect(plan.next == .create)
        #expect(plan.method(of: .create) == "POST")
        #expect(plan.headers(of: .create).contains(TransferHeader("Upload-Length", "100")))
        #expect(plan.handle(Self.head(201), location: "https://h/1") == .proceed)
        #expect(plan.point.uploadURL == "https://h/1")
        #expect(plan.next == .append(from: 0))
        // Some servers end a request early and say how far they came.
        #expect(plan.handle(Self.head(204, ["upload-offset": "40"]), location: nil) == .proceed)
        #expect(plan.next == .append(from: 40))
        #expect(plan.handle(Self.head(204, ["upload-offset": "100"]), location: nil) == .complete)
    }

    @Test func `tus asks for the offset before it resumes`() {
        var plan = Self.plan(.tus, url: "https://h/1")
        #expect(plan.next == .locate)
        #expect(plan.method(of: .locate) == "HEAD")
        #expect(plan.handle(Self.head(200, ["upload-offset": "70"]), location: nil) == .proceed)
        #expect(plan.next == .append(from: 70))
        #expect(plan.point.bytes == 70)
        var full = Self.plan(.tus, url: "https://h/1")
        #expect(full.handle(Self.head(200, ["upload-offset": "100"]), location: nil) == .complete)
    }

    @Test func `The draft says when it is all`() {
        var plan = Self.plan(.ietf)
        #expect(plan.method(of: .create) == nil)
        #expect(plan.headers(of: .create).contains(TransferHeader("Upload-Complete", "?0")))
        #expect(plan.handle(Self.head(201), location: "https://h/1") == .proceed)
        #expect(plan.headers(of: plan.next).contains(TransferHeader("Upload-Complete", "?1")))
        #expect(plan.handle(Self.head(200, ["upload-complete": "?1"]), location: nil) == .complete)
        // All bytes may be there, and the server may still not know that there are no more.
        var open = Self.plan(.ietf, url: "https://h/1")
        let located = Self.head(204, ["upload-offset": "100", "upload-complete": "?0"])
        #expect(open.handle(located, location: nil) == .proceed)
        #expect(open.next == .append(from: 100))
        var closed = Self.plan(.ietf, url: "https://h/1")
        let done = Self.head(204, ["upload-offset": "100", "upload-complete": "?1"])
        #expect(closed.handle(done, location: nil) == .complete)
    }

    @Test(
        arguments: [
            (["upload-limit": "max-size=9"], 204, UploadStep.create),
            (["tus-version": "1.0.0,0.2.2", "tus-extension": "creation,expiration"], 204, .create),
            (["tus-version": "1.0.0", "tus-extension": "expiration"], 204, .send),
            (["tus-version": "0.2.2", "tus-extension": "creation"], 204, .send),
            ([:], 200, .send), ([:], 404, .send), ([:], 405, .send), ([:], 501, .send),
        ] as [([String: String], Int, UploadStep)]
    )
    func `Uses the protocol that the server speaks`(
        fields: [String: String],
        status: Int,
        step: UploadStep
    ) {
        var plan = Self.plan(.negotiated)
        #expect(plan.next == .ask)
        #expect(plan.handle(Self.head(status, fields), location: nil) == .proceed)
        #expect(plan.next == step)
    }

    @Test func `An overloaded server is retried`() {
        var plan = Self.plan(.negotiated)
        #expect(Self.code(plan.handle(Self.head(503), location: nil)) == .status)
        #expect(plan.next == .ask)
    }

    /// What a server may answer that does not fit.
    @Test(
        arguments: [
            (404, [:], TransferFault.Code.contradiction, UploadStep.create),
            (410, [:], .contradiction, .create),
            (204, [:], .contradiction, .create),
            (204, ["upload-offset": "101"], .contradiction, .create),
            (204, ["upload-offset": "-1"], .contradiction, .create),
            (204, ["upload-offset": "1", "upload-length": "99"], .contradiction, .create),
            (500, [:], .status, .locate),
        ] as [(Int, [String: String], TransferFault.Code, UploadStep)]
    )
    func `A lost upload resource is created again`(
        status: Int,
        fields: [String: String],
        code: TransferFault.Code,
        next: UploadStep
    ) {
        var plan = Self.plan(.tus, url: "https://h/1")
        #expect(Self.code(plan.handle(Self.head(status, fields), location: nil)) == code)
        #expect(plan.next == next)
    }

    @Test(
        arguments: [
            (409, [:], TransferFault.Code.incomplete, UploadStep.locate),
            (460, [:], .incomplete, .locate),
            (404, [:], .contradiction, .create),
            (204, [:], .contradiction, .create),
            (204, ["upload-offset": "39"], .contradiction, .create),
            (204, ["upload-offset": "101"], .contradiction, .create),
            (204, ["upload-offset": "40"], .incomplete, .append(from: 40)),
            (503, [:], .status, .locate),
        ] as [(Int, [String: String], TransferFault.Code, UploadStep)]
    )
    func `Bytes that the server refused do not count as sent`(
        status: Int,
        fields: [String: String],
        code: TransferFault.Code,
        next: UploadStep
    ) {
        var plan = Self.plan(.tus, url: "https://h/1")
        #expect(plan.handle(Self.head(204, ["upload-offset": "40"]), location: nil) == .proceed)
        #expect(Self.code(plan.handle(Self.head(status, fields), location: nil)) == code)
        #expect(plan.next == next)
    }

    @Test(arguments: [200, 201, 204])
    func `A server without a location does not speak the protocol`(
        status: Int
    ) {
        for form in [UploadForm.tus, .ietf] {
            var plan = Self.plan(form)
            #expect(Self.code(plan.handle(Self.head(status), location: nil)) == .contradiction)
        }
    }

    @Test func `A file that is sent whole ends with any success`() {
        for form in [UploadForm.whole, .multipart(field: "f", fileName: "n", contentType: "")] {
            for status in 200..<300 {
                var plan = Self.plan(form)
                #expect(plan.next == .send)
                #expect(plan.handle(Self.head(status), location: nil) == .complete)
            }
            var plan = Self.plan(form)
            #expect(Self.code(plan.handle(Self.head(302), location: nil)) == .status)
        }
    }
}
