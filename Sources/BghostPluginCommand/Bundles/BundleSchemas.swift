// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostBase
internal import BghostBundle
internal import BghostInspection
internal import BghostSchemas

/// Compares the schemas in a bundle with those in the table of its library, which the daemon checks.
enum BundleSchemas {
    /// Throws unless a member of a bundle is the schema that the library has.
    static func require(
        _ member: BundleMember,
        _ bytes: [UInt8],
        _ summary: PluginSummary
    ) throws(CommandFailure) {
        // What is no JSON is refused with its reason where the bundle is read or written.
        guard case .schema(let handler) = member, let other = try? JSONReader.parse(bytes) else {
            return
        }
        // Another message says that bundle.json does not name the handler.
        guard summary.handlers.contains(handler) else { return }
        let reason: String
        if let own = summary.schemas.schemas[handler] {
            guard !own.isSameSchema(as: other) else { return }
            reason = "is not the schema that handler \(handler) has in the library"
        } else if summary.schemas.problems[handler] != nil {
            reason = "cannot be compared: that of handler \(handler) in the library cannot be used"
        } else {
            reason = "is for handler \(handler), which has no schema in the library"
        }
        throw CommandFailure(
            .failure,
            "schemas/\(handler).json \(reason)",
            fix: "leave it out: the daemon reads that of the library"
        )
    }
}
