// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import BghostTransferRules
@testable import BghostTransfer
import Glibc
import Testing

/// Links that a plugin puts on the way to what is granted, where the daemon opens files for a plugin.
@Suite struct GrantLinkTests {
    /// A folder that plugins may write, with a link to one with a secret, and a link of the operator.
    private func house() throws -> TemporaryDirectory {
        let all = try TemporaryDirectory()
        for name in ["w", "secret", "v1"] { #expect(mkdir(all.file(name), 0o700) == 0) }
        try all.write("text", to: "secret/text")
        try all.write("text", to: "v1/text")
        #expect(symlink("../secret", all.file("w/in")) == 0)
        #expect(symlink("v1", all.file("current")) == 0)
        return all
    }

    @Test(arguments: [
        (["w/in"], "w/in/text", false), (["w/in/text"], "w/in/text", false),
        (["current"], "current/text", true), (["current/text"], "current/text", true),
    ])
    func `The file of a fetch`(granted: [String], path: String, isOpened: Bool) throws {
        let all = try house()
        let (granted, path) = (granted.map(all.file), all.file(path))
        let trees = WritableTrees([all.file("w")])
        guard isOpened else {
            #expect(throws: FetchFailure.self) {
                try PermittedFile.open(path, within: granted, among: trees)
            }
            return
        }
        close(try PermittedFile.open(path, within: granted, among: trees))
    }

    @Test(arguments: [("w/in", false), ("current", true)])
    func `The folders of transfers`(folder: String, isOpened: Bool) throws {
        let all = try house()
        let access = TransferAccess(
            writable: [all.file(folder)],
            readable: [all.file(folder)],
            among: WritableTrees([all.file("w"), all.file(folder)]),
            permits: { _, _ in true }
        )
        let path = all.file(folder + "/text")
        guard isOpened else {
            #expect(throws: TransferFault.self) { try access.openForReading(path) }
            #expect(throws: TransferFault.self) { try access.openFolder(of: path) }
            return
        }
        #expect(try access.openForReading(path).size == 4)
        close(try access.openFolder(of: path).descriptor)
    }
}
