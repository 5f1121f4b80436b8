// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostBundle
import BghostFuzz

extension FuzzTarget {
    /// A bundle: the tar file with its list, description and schemas.
    static let bundle = FuzzTarget("bundle", bytesMax: 32 << 10) { bytes throws(BrokenProperty) in
        let read: Bundle
        do throws(BundleError) {
            read = try Bundle(bytes)
        } catch {
            try MessageText.check(error.message)
            try MessageText.check(error.fix)
            return
        }
        // One content has one form: a signed one only has its signature besides.
        if read.signature == nil {
            let again = try? read.unsigned.bytes()
            try require(again == bytes, "a bundle is read that is not written so")
        }
        for member in read.members {
            try require(!member.name.hasPrefix("/"), "\(member.name) is outside")
            let parts = member.name.split(separator: "/", omittingEmptySubsequences: false)
            try require(!parts.contains("..") && !parts.contains(""), "\(member.name) is outside")
        }
        try require(!read.architectures.isEmpty, "a bundle has no library")
        try checkGrants(read)
    }

    /// What is asked for comes back as it was.
    private static func checkGrants(_ bundle: Bundle) throws(BrokenProperty) {
        let list: GrantList
        do throws(BundleError) {
            list = try GrantList(bundle.description)
        } catch {
            return try MessageText.check(error.message, bytesMax: 64 << 10)
        }
        for grant in list.grants {
            try require(!grant.subject.isEmpty || grant.text.isEmpty, "a grant is not shown")
        }
        let keys = list.plugin.object?.map(\.key) ?? []
        try require(
            keys.allSatisfy { bundle.description.plugin[$0] != nil },
            "something is granted that was not asked for"
        )
    }
}
