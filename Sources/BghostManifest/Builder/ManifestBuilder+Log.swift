// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

extension ManifestBuilder {
    func log(_ node: JSONNode?, in source: ManifestSource) -> LogSettings {
        var log = LogSettings()
        log.file = node?["file"]?.string
        log.format = node?["format"]?.string.flatMap(LogSettings.Format.init) ?? log.format
        log.bytesMax = amount(node?["maxSize"], .size) ?? log.bytesMax
        log.olderFiles = node?["files"]?.int64.map { Int(clamping: $0) } ?? log.olderFiles
        log.runs = node?["runs"]?.string.flatMap(LogSettings.Runs.init) ?? log.runs
        log.linesPerSecond = node?["rate"]?.int64.map { Int(clamping: $0) } ?? log.linesPerSecond
        if let file = log.file, let node = node?["file"], Self.namesFolder(file) {
            collector.report(
                .badPath,
                at: node.span,
                in: source,
                "`host.log.file` is \(file.quoted), which names a folder",
                help: "add the name of a file, such as `bghost.log`"
            )
        }
        return log
    }

    private static func namesFolder(_ path: String) -> Bool {
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        // An empty path has its own message.
        return last.isEmpty && !path.isEmpty || last == "." || last == ".."
    }
}
