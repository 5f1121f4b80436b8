// SPDX-License-Identifier: Apache-2.0

package import BghostBase

extension JSONWriter {
    /// Writes a transfer as an object.
    package mutating func value(_ view: TransferView) {
        object { writer in
            writer.member("id", view.id.description)
            writer.member("plugin", view.plugin)
            writer.member("session", view.session)
            writer.member("url", view.url)
            writer.member("label", view.label)
            writer.member("file", view.file)
            writer.member("upload", view.isUpload)
            writer.member("state", view.stateName)
            writer.member("bytes", view.bytes)
            writer.key("total")
            writer.optional(view.total)
            writer.member("status", view.status)
            writer.member("fault", view.fault)
            writer.member("failures", view.failures)
            writer.member("awaited", view.isAwaited)
            writer.member("waitingFor", view.waitingFor)
            writer.member("createdAt", time: view.createdAt)
            writer.member("endedAt", time: view.endedAt)
        }
    }
}

extension TransferView {
    /// Reads what the writer writes; `nil` if something is absent that cannot be done without.
    package init?(json: JSONNode) {
        guard let id = json.runID("id"), let plugin = json["plugin"]?.string,
            let session = json["session"]?.string, let state = json["state"]?.string,
            let createdAt = json.time("createdAt")
        else { return nil }
        self.init(
            id: id,
            plugin: plugin,
            session: session,
            url: json["url"]?.string ?? "",
            isUpload: json["upload"]?.bool ?? false,
            stateName: state,
            bytes: json["bytes"]?.int64 ?? 0,
            total: json["total"]?.int64,
            createdAt: createdAt
        )
        label = json["label"]?.string ?? ""
        file = json["file"]?.string ?? ""
        status = Int(clamping: json["status"]?.int64 ?? 0)
        fault = json["fault"]?.string ?? ""
        failures = Int(clamping: json["failures"]?.int64 ?? 0)
        isAwaited = json["awaited"]?.bool ?? false
        waitingFor = json["waitingFor"]?.string ?? ""
        endedAt = json.time("endedAt")
    }
}
