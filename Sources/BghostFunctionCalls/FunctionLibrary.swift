// SPDX-License-Identifier: Apache-2.0
import BghostBase
import BghostPlugin
import CBghostSystem
import Glibc

/// Finds functions in shared libraries, which stay loaded from then on.
enum FunctionLibrary {
    /// Loads a library and returns the address of a function.
    ///
    /// Loading runs the library's constructors, which is third-party code.
    static func function(
        _ symbol: String,
        in library: String
    ) throws(FunctionError) -> UnsafeMutableRawPointer {
        guard !library.isEmpty, !library.utf8.contains(0), !symbol.utf8.contains(0) else {
            throw .libraryNotLoaded(
                library: library,
                reason: "a name is needed, without NUL characters"
            )
        }
        // Never closed again: threads of the library and callbacks could still be running.
        guard let handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | Int32(RTLD_NODELETE)) else {
            throw .libraryNotLoaded(library: library, reason: linkerError())
        }
        guard let address = dlsym(handle, symbol) else {
            throw .symbolMissing(
                symbol: symbol,
                library: library,
                near: names(near: symbol, in: handle)
            )
        }
        guard bgs_is_code(address) == 1 else {
            throw .notAFunction(symbol: symbol, library: library)
        }
        return address
    }

    private static func linkerError() -> String {
        dlerror().map { String(cString: $0) } ?? "the dynamic linker gives no reason"
    }

    /// Up to three names that the author may have meant.
    private static func names(
        near symbol: String,
        in handle: UnsafeMutableRawPointer
    ) -> [String] {
        let room = min(bgs_exported_functions(handle, nil, 0), namesMax)
        var pointers = [UnsafePointer<CChar>?](repeating: nil, count: room)
        let count = min(bgs_exported_functions(handle, &pointers, room), room)
        var candidates = pointers[..<count].compactMap { $0.map { String(cString: $0) } }
        var near: [String] = []
        while near.count < 3, let name = Spelling.nearest(to: symbol, among: candidates) {
            near.append(name)
            candidates.removeAll { $0 == name }
        }
        return near
    }

    /// The most exported names to compare: with more, the search for a suggestion would take too
    /// long.
    private static let namesMax = 20_000
}
