// SPDX-License-Identifier: Apache-2.0

import BghostTemplates
import Testing

struct PluginNameTests {
    @Test(
        arguments: [
            ("hello", "hello", "hello", "Hello"),
            ("photo-upload", "photo-upload", "photo_upload", "PhotoUpload"),
            ("PhotoUpload", "photo-upload", "photo_upload", "PhotoUpload"),
            ("Photo-Upload", "photo-upload", "photo_upload", "PhotoUpload"),
            ("s3Sync", "s3-sync", "s3_sync", "S3Sync"),
            ("HTTP2", "http2", "http2", "Http2"),
            (
                "abcdefghijklmnopqrstuvwxyzabcdef", "abcdefghijklmnopqrstuvwxyzabcdef",
                "abcdefghijklmnopqrstuvwxyzabcdef", "Abcdefghijklmnopqrstuvwxyzabcdef"
            ),
        ]
    )
    func `A name has a form for each use`(
        text: String,
        hyphenated: String,
        underscored: String,
        module: String
    ) throws {
        let name = try PluginName(text)
        #expect(name.hyphenated == hyphenated)
        #expect(name.underscored == underscored)
        #expect(name.module == module)
    }

    @Test(
        arguments: [
            ("", "is empty"),
            ("abcdefghijklmnopqrstuvwxyzabcdefg", "has more than 32 characters"),
            ("../etc", "has `.`"), ("a/b", "has `/`"), ("a b", "has ` `"), ("a_b", "has `_`"),
            ("übung", "has `ü`"), ("a\n", "has `\n`"), ("a\u{301}", "has `a\u{301}`"),
            ("1st", "does not begin with a letter"), ("-a", "does not begin with a letter"),
            ("a-", "has a hyphen that is not between two words"),
            ("a--b", "has a hyphen that is not between two words"),
            ("swift-ui", "is a name that Swift, Rust, Go or the SDK uses"),
            ("vendor", "is a name that Swift, Rust, Go or the SDK uses"),
            ("Test", "is a name that Swift, Rust, Go or the SDK uses"),
            ("foundation", "is a name that Swift, Rust, Go or the SDK uses"),
        ]
    )
    func `A text that is no name is refused with the reason`(text: String, reason: String) {
        let error = #expect(throws: PluginNameError.self) { try PluginName(text) }
        #expect(error?.reason == reason)
    }
}
