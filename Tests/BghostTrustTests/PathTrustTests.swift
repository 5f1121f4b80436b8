// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import BghostTrust
import Glibc
import Testing

/// A file is as safe as the folders on the way to it.
@Suite struct PathTrustTests {
    private let folder: TemporaryDirectory
    private let file: String

    init() throws {
        folder = try TemporaryDirectory()
        try #require(mkdir(folder.file("plugins"), 0o755) == 0)
        file = try folder.write("x", to: "plugins/plugin.so")
        chmod(file, 0o644)
    }

    private func refusal(of path: String) -> String {
        do throws(TrustError) {
            try PathTrust.check(path)
            return ""
        } catch {
            return error.description
        }
    }

    /// It lies in /tmp, where everybody may write, but not over what others own.
    @Test func `A file that only its owner can change is trusted`() {
        #expect(refusal(of: file) == "")
    }

    @Test(arguments: [("plugins/plugin.so", mode_t(0o646)), ("plugins", 0o757)])
    func `A file that every user can change or replace is not trusted`(name: String, mode: mode_t) {
        let path = folder.file(name)
        chmod(path, mode)
        #expect(refusal(of: file) == "\(path) can be written by everybody; run `chmod o-w \(path)`")
    }

    @Test func `A device is no file, and its permissions are left alone`() {
        #expect(
            refusal(of: "/dev/null")
                == "/dev/null is a device, a FIFO or a socket, which everybody can write to; name a file"
        )
    }

    @Test func `A file that another group can change is not trusted`() throws {
        let path = folder.file("plugins")
        try #require(chown(path, geteuid(), geteuid() == 0 ? 12345 : getegid()) == 0)
        chmod(path, 0o775)
        // The own group of a user who is not root is his alone.
        let expected =
            geteuid() == 0 ? "\(path) can be written by group 12345; run `chmod g-w \(path)`" : ""
        #expect(refusal(of: file) == expected)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `A file of another user is not trusted`() throws {
        try #require(chown(file, 12345, 0) == 0)
        #expect(refusal(of: file).hasPrefix("\(file) belongs to user 12345, who could change it"))
    }

    @Test func `The check follows a link and checks the folders of its target`() throws {
        let link = folder.file("link.so")
        try #require(symlink("plugins/../plugins/plugin.so", link) == 0)
        #expect(refusal(of: link) == "")
        chmod(folder.file("plugins"), 0o757)
        #expect(refusal(of: link).hasPrefix("\(folder.file("plugins")) can be written by everyb"))
    }

    @Test func `A file that may be absent is trusted where only its owner can create it`() throws {
        func refusal(_ name: String) -> String {
            do throws(TrustError) {
                try PathTrust.check(folder.file(name), mayBeAbsent: true)
                return ""
            } catch {
                return error.description
            }
        }
        #expect(refusal("plugins/later") == "")
        #expect(refusal("plugins/later/inner") == "")
        try #require(symlink("later", folder.file("plugins/link")) == 0)
        #expect(refusal("plugins/link") == "")
        // The sticky bit keeps others from replacing a file, not from creating it.
        chmod(folder.file("plugins"), 0o1777)
        #expect(refusal("plugins/plugin.so") == "")
        for name in ["plugins/later", "plugins/later/inner", "plugins/link"] {
            #expect(refusal(name).contains("could create it in \(folder.file("plugins"))"))
        }
    }

    @Test func `A ring of links is refused`() throws {
        let (a, b) = (folder.file("a"), folder.file("b"))
        try #require(symlink(a, b) == 0 && symlink(b, a) == 0)
        #expect(refusal(of: a).contains("is a link that leads nowhere"))
        #expect(refusal(of: folder.file("absent")).contains("No such file"))
    }
}
