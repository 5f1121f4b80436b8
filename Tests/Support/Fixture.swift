// SPDX-License-Identifier: Apache-2.0

import Glibc
/// Compiles fixtures in C and C++ with the toolchain's compiler.
///
/// Each text is compiled once for each set of flags, and what was made is never replaced: a daemon of another
/// test may have loaded it, and takes another file for a changed plugin. Safe from parallel tests and from
/// parallel test processes.
package enum Fixture {
    /// Builds `Tests/Fixtures/Plugins/<name>.c` (or `.cc`) into a shared object.
    ///
    /// - Parameters:
    ///   - defines: macros, as `NAME` or `NAME=VALUE`.
    ///   - flags: further flags of the compiler, behind the usual ones.
    /// - Returns: the path of the `.so`. It is shared by all tests: copy it before changing it.
    package static func library(
        _ name: String,
        defines: [String] = [],
        flags: [String] = []
    ) throws -> String {
        let stem = PackageRoot.path + "/Tests/Fixtures/Plugins/" + name
        let source = access(stem + ".c", R_OK) == 0 ? stem + ".c" : stem + ".cc"
        return try library(source: source, defines: defines, flags: flags)
    }

    /// Builds any C or C++ file against `bghost.h` into a shared object, and returns its path.
    package static func library(
        source: String,
        defines: [String] = [],
        flags: [String] = []
    ) throws -> String {
        let usual = ["-shared", "-fPIC", "-fvisibility=hidden", "-O1", "-g0", "-pthread"]
        return try build(
            source,
            arguments: usual + defines.map { "-D" + $0 } + flags,
            suffix: ".so"
        )
    }

    /// Builds `Tests/Fixtures/Programs/<name>.c` into a program and returns its path.
    package static func program(_ name: String) throws -> String {
        try build(
            PackageRoot.path + "/Tests/Fixtures/Programs/\(name).c",
            arguments: ["-O1", "-g0"],
            suffix: ""
        )
    }

    /// The folder of `bghost.h`.
    package static let include = PackageRoot.path + "/SDK/Sources/CBghost/include"

    /// Compiles a file with a compiler's arguments into the cache and returns the path of what was
    /// made.
    private static func build(_ source: String, arguments: [String], suffix: String) throws
        -> String
    {
        let isCxx = source.hasSuffix(".cc")
        let flags =
            ["-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-I" + include] + arguments
            + (isCxx ? ["-std=c++17"] : [])
        let compiler = isCxx ? Toolchain.cxx : Toolchain.c

        var key = ContentHash()
        key.add(compiler)
        flags.forEach { key.add($0) }
        key.add(try File.read(source))
        key.add(try File.read(include + "/bghost.h"))
        for header in try headers(beside: source) { key.add(try File.read(header)) }

        let base = source.split(separator: "/").last?.split(separator: ".").first ?? "fixture"
        let directory = Artifact.directory + "/fixtures"
        mkdir(directory, 0o755)
        let product = "\(directory)/\(base)-\(key)\(suffix)"
        if access(product, R_OK) == 0 { return product }

        let lock = open("\(directory)/.\(base)-\(key).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard lock >= 0 else { throw SystemCallError(call: "open a lock", code: errno) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw SystemCallError(call: "flock", code: errno) }
        }
        // Others may have made it meanwhile.
        if access(product, R_OK) == 0 { return product }
        // The rename shows either nothing or a whole file.
        let unfinished = "\(directory)/.\(base)-\(key)\(suffix)"
        let result = try Command.run([compiler] + flags + [source, "-o", unfinished])
        guard result.exitCode == 0 else {
            throw CompileError(source: source, output: result.output + result.error)
        }
        guard rename(unfinished, product) == 0 else {
            throw SystemCallError(call: "rename \(unfinished)", code: errno)
        }
        return product
    }

    private static func headers(beside source: String) throws(SystemCallError) -> [String] {
        let folder = source.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        return try File.list(folder).filter { $0.hasSuffix(".h") }.sorted().map {
            folder + "/" + $0
        }
    }

}

/// A fixture that does not compile.
package struct CompileError: Error, CustomStringConvertible {
    package var source: String
    /// What the compiler said.
    package var output: String

    package var description: String { "\(source) does not compile:\n\(output)" }
}

/// The compilers that stand beside `swift`.
package enum Toolchain {
    /// A C compiler: the toolchain's clang, else `cc`.
    package static let c = compiler("clang") ?? "cc"
    /// A C++ compiler: the toolchain's clang++, else `c++`.
    package static let cxx = compiler("clang++") ?? "c++"

    /// The path of a program on `PATH`; `nil` if there is none.
    package static func program(_ name: String) -> String? {
        folders.map { $0 + "/" + name }.first { access($0, X_OK) == 0 }
    }

    private static let folders: [String] =
        getenv("PATH").map { String(cString: $0).split(separator: ":").map(String.init) } ?? []

    private static func compiler(_ name: String) -> String? {
        let besideSwift = folders.first { access($0 + "/swift", X_OK) == 0 }.map { $0 + "/" + name }
        if let besideSwift, access(besideSwift, X_OK) == 0 { return besideSwift }
        return program(name)
    }
}

/// FNV-1a: enough to tell the versions of a fixture apart.
private struct ContentHash: CustomStringConvertible {
    private var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
        // Ends the part, so that ["ab", "c"] and ["a", "bc"] differ.
        value = (value ^ 0x100) &* 0x100_0000_01B3
    }

    mutating func add(_ text: String) { add(text.utf8) }

    var description: String { String(value, radix: 16) }
}
