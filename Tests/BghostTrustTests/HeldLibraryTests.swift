// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import BghostTrust
import Glibc
import Testing

@Suite struct HeldLibraryTests {
    @Test func `A held library does not change with its file`() throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write("first", to: "plugin.so")
        let held = try HeldLibrary(path: file)
        // The same inode, as its owner may do.
        let fd = open(file, O_WRONLY)
        #expect(pwrite(fd, "other", 5, 0) == 5)
        close(fd)
        #expect(try held.bytes() == Array("first".utf8))
        #expect(pwrite(held.descriptor, "other", 5, 0) == -1 && errno == EPERM)
        for size: off_t in [0, 1 << 20] {
            #expect(ftruncate(held.descriptor, size) == -1 && errno == EPERM)
        }
    }

    @Test func `The error of a wrong pin has both sums`() throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write("abc", to: "plugin.so")
        let right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(try LibraryPin(sha256: right, signer: nil)?.hold(file).sha256 == right)
        let wrong = String(right.reversed())
        let error = #expect(throws: TrustError.self) {
            try LibraryPin(sha256: wrong, signer: nil)?.hold(file)
        }
        #expect(error?.description.contains(right) == true)
        #expect(error?.description.contains(wrong) == true)
    }

    @Test func `Only regular files below the size limit are accepted`() throws {
        let folder = try TemporaryDirectory()
        let pipe = folder.file("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let giant = try folder.write("", to: "giant.so")
        try #require(truncate(giant, off_t(HeldLibrary.bytesMax) + 1) == 0)
        for path in [pipe, giant, folder.path, folder.file("absent"), "/dev/zero"] {
            #expect(throws: TrustError.self) { try HeldLibrary(path: path) }
        }
    }
}
