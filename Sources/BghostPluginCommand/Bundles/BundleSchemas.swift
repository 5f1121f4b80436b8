// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostBase
internal import BghostBundle
internal import BghostInspection
internal import BghostSchemas

/// Compares the schemas in a bundle with those in the table of its library, which the daemon checks.
enum BundleSchemas {
    /// Throws unless a member of a bundle is the schema that the library has, if it has one.
    static func require(
        _ member: BundleMember,
        _ bytes: [UInt8],
        _ summary: PluginSummary
    ) throws(CommandFailure) {
        // What is no JSON is refused with its reason where the bundle is read or written.
        guard case .schema(let handler) = member, let own = summary.schemas.schemas[handler],
            let other = try? JSONReader.parse(bytes), !own.isSameSchema(as: other)
        else { return }
        throw CommandFailure(
            .failure,
            "schemas/\(handler).json is not the schema that handler \(handler) has in the library",
            fix: "leave it out: the daemon reads that of the library"
        )
    }
}
