// SPDX-License-Identifier: Apache-2.0

import BghostBase
import Testing

@testable import BghostBundle

/// `bundle.json`, and what it may ask for.
@Suite struct DescriptionTests {
    @Test(
        arguments: [
            (#""name": "photos""#, #""name": "../photos""#, "`name` is no name"),
            (#""name": "photos""#, #""name": 7"#, "`name` is no string"),
            (#""version": "1.2.0""#, #""version": "1.2/0""#, "`version` is no version"),
            (#""version": "1.2.0""#, #""version": "1..2""#, "`version` is no version"),
            (#""from": "1.0""#, #""from": "1""#, "`abi` is no range"),
            (#""before": "2.0""#, #""before": "3.0""#, "`abi` is no range"),
            (#""before": "2.0""#, #""before": "2.0", "x": 1"#, "`abi` is no range"),
            (#""licence""#, #""rights""#, "the key `rights`"),
            ("https://", "javascript:", "`homepage` does not begin"),
            ("bghost.bundle/1", "bghost.bundle/2", "another format"),
            (#""upload""#, #""up load""#, "`handlers` has an element"),
            (#""name": "photos""#, #""name": "photos", "name": "other""#, "is no JSON"),
        ]
    )
    func `A wrong description is refused`(old: String, new: String, why: String) throws {
        let text = String(decoding: SampleBundle.description.bytes, as: UTF8.self)
        let compact = text.replacing("\\/", with: "/")
        #expect(compact.contains(old))
        let changed = compact.replacing(old, with: new, maxReplacements: 1)
        let error = #expect(throws: BundleError.self) {
            try BundleDescription(Array(changed.utf8))
        }
        #expect(error?.message.contains(why) == true, "\(error?.message ?? "accepted")")
    }

    @Test func `A plugin is for its major version of the ABI, from its minor one on`() throws {
        let abi = try #require(ABIVersion("1.2"))
        #expect(abi.isSpoken(by: ABIVersion(major: 1, minor: 2)))
        #expect(abi.isSpoken(by: ABIVersion(major: 1, minor: 3)))
        #expect(!abi.isSpoken(by: ABIVersion(major: 1, minor: 1)))
        #expect(!abi.isSpoken(by: ABIVersion(major: 2, minor: 2)))
        #expect(
            ABIVersion("1.02") == nil && ABIVersion("+1.0") == nil && ABIVersion("1.0.0") == nil
        )
    }

    @Test(
        arguments: [
            (#"{"library": "/x.so"}"#, "{}", "sets `library`"),
            (#"{"isolation": "in-process"}"#, "{}", "sets `isolation`"),
            (#"{"signedBy": "acme"}"#, "{}", "sets `signedBy`"),
            (#"{"config": {"token": "${env:TOKEN}"}}"#, "{}", "secrets of the operator"),
            (
                #"{"permissions": {"read": ["data"]}}"#, "{}",
                "`data` of a permission is not absolute"
            ),
            (#"{"permissions": {"write": ["/srv/../etc"]}}"#, "{}", "is not absolute, or has `..`"),
            (#"{"permissions": 7}"#, "{}", "`permissions` is no object"),
            ("{}", #"{"a.b": {"handler": "nosuch"}}"#, "names no `handler`"),
            ("{}", #"{"a.b": {"handler": "upload", "plugin": "other"}}"#, "must not set"),
            ("{}", #"{"a.b": {"handler": "upload", "override": true}}"#, "must not set"),
            (
                "{}", #"{"a.b": {"handler": "upload", "parameters": {"x": "${file:/k}"}}}"#,
                "secrets"
            ),
        ]
    )
    func `What only an operator may decide is refused`(
        plugin: String,
        tasks: String,
        why: String
    ) throws {
        var description = SampleBundle.description
        description.plugin = SampleBundle.node(plugin)
        description.tasks = SampleBundle.node(tasks)
        let error = #expect(throws: BundleError.self) { try GrantList(description) }
        #expect(error?.message.contains(why) == true, "\(error?.message ?? "accepted")")
    }

    @Test(
        arguments: [
            (#"{"permissions": {"netwrok": []}}"#, "{}"),
            (#"{"limits": {"memory": "much"}}"#, "{}"),
            ("{}", #"{"a..b": {"handler": "upload"}}"#),
            ("{}", #"{"a.b": {"handler": "upload", "every": "1 fortnight"}}"#),
        ]
    )
    func `What a manifest refuses is refused`(plugin: String, tasks: String) throws {
        var description = SampleBundle.description
        description.plugin = SampleBundle.node(plugin)
        description.tasks = SampleBundle.node(tasks)
        let list = try GrantList(description)
        // A key with an empty list grants nothing, and an unknown one is refused with what it has.
        guard !list.grants.isEmpty else { return }
        #expect(throws: BundleError.self) { try list.manifest(SampleBundle.zones) }
    }
}
