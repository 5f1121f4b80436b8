// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

extension ManifestBuilder {
    func session(_ entry: ManifestEntry) -> SessionDefinition {
        let node = entry.node
        var session = SessionDefinition(
            name: entry.name,
            plugin: node["plugin"]?.string ?? "",
            handler: node["handler"]?.string,
            origin: entry.location
        )
        session.sendsLaunchEvents = node["launchEvents"]?.bool ?? session.sendsLaunchEvents
        session.isDiscretionary = node["discretionary"]?.bool ?? session.isDiscretionary
        session.resourceTimeout = duration(node["resourceTimeout"]) ?? session.resourceTimeout
        session.fileBytesMax =
            amount(node["fileSize"], .size).map { Int64(clamping: $0) } ?? session.fileBytesMax
        session.limits.runtime = duration(node["limits"]?["runtime"]) ?? session.limits.runtime
        session.limits.grace = duration(node["limits"]?["grace"]) ?? session.limits.grace
        return session
    }
}
