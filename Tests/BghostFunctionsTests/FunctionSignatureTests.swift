// SPDX-License-Identifier: Apache-2.0
@testable import BghostFunctions
import Testing

@Suite struct FunctionSignatureTests {
    @Test func `Reads the signature of the manual`() throws {
        let signature = try FunctionSignature(parsing: "ulong(ulong, bytes, uint)")
        #expect(signature.result == .scalar(.ulong))
        #expect(signature.fixedArguments == nil)
        #expect(
            signature.arguments == [
                FunctionArgument(passing: .value(.scalar(.ulong))),
                FunctionArgument(passing: .bytes),
                FunctionArgument(passing: .value(.scalar(.uint))),
            ]
        )
    }

    @Test func `Reads every kind of argument`() throws {
        let signature = try FunctionSignature(
            parsing: """
                void(s: string, b: bytes, n: size = lengthOf(b), o: out int, i: inout double,
                     p: out pointer, t: out string, f: out owned string, w: out bytes(4KiB),
                     r: inout string(64), v: {x: int, y: {float, char}}, cancelled, done(string))
                """
        )
        #expect(signature.result == nil)
        #expect(signature.endsByCallback)
        let passings = signature.arguments.map(\.passing)
        #expect(
            passings == [
                .value(.string(owned: false)), .bytes, .value(.scalar(.size)),
                .reference(.scalar(.int), given: false),
                .reference(.scalar(.double), given: true),
                .reference(.pointer, given: false),
                .reference(.string(owned: false), given: false),
                .reference(.string(owned: true), given: false),
                .buffer(OutputBuffer(capacity: 4096, text: false, given: false)),
                .buffer(OutputBuffer(capacity: 64, text: true, given: true)),
                .value(
                    .structure([
                        StructureField(name: "x", type: .scalar(.int)),
                        StructureField(
                            name: "y",
                            type: .structure([
                                StructureField(type: .scalar(.float)),
                                StructureField(type: .scalar(.char)),
                            ])
                        ),
                    ])
                ),
                .cancelled, .done(text: true),
            ]
        )
        #expect(signature.arguments[2].preset == .lengthOf("b"))
    }

    @Test(arguments: ScalarType.allCases)
    func `Reads every scalar`(_ scalar: ScalarType) throws {
        let signature = try FunctionSignature(parsing: "\(scalar.rawValue)(x: \(scalar.rawValue))")
        #expect(signature.result == .scalar(scalar))
        #expect(signature.arguments.first?.passing == .value(.scalar(scalar)))
        #expect([1, 2, 4, 8].contains(scalar.byteCount))
    }

    @Test func `Knows the ranges of integers`() {
        #expect(ScalarType.uint8.integerRange == 0...255)
        #expect(ScalarType.int.integerRange == -2_147_483_648...2_147_483_647)
        #expect(ScalarType.ulong.integerRange == 0...Int128(UInt64.max))
        #expect(ScalarType.longlong.integerRange == Int128(Int64.min)...Int128(Int64.max))
        #expect(ScalarType.bool.integerRange == nil)
        #expect(ScalarType.double.integerRange == nil)
    }

    @Test(arguments: [
        "ulong(ulong, bytes, uint)",
        "void()",
        "int(path: string, flags: int = -1) >= 0",
        "pointer(size) != null",
        "bool(int) == true",
        "bool(int) != false",
        "uint64(uint64 = 18446744073709551615) == 18446744073709551615",
        "{int, {x: double}}({x: int8, y: float} )",
        "double(x: double = 1.5, e: out int)",
        "double(double = 1e+300)",
        "int(string, ..., int, double)",
        "int(string, ...)",
        "owned string(path: string, null: pointer = null)",
        "ssize(fd: int, data: out bytes(512, result), room: size = capacityOf(data))",
        "int(to: out bytes(65536, length), length: inout ulong = capacityOf(to), from: bytes, "
            + "size: ulong = lengthOf(from))",
        "void(inout bytes(8), inout string(8) = \"a\\\"\\\\\\n\\t\u{E9}\")",
        "void(done, stop: cancelled)",
        "void(done(string))",
        "bool(bool = true, bool = false)",
    ])
    func `Its description reads back as the same`(_ text: String) throws {
        let signature = try FunctionSignature(parsing: text)
        #expect(try FunctionSignature(parsing: signature.description) == signature)
        // What is printed is canonical: printing it once more changes nothing.
        let again = try FunctionSignature(parsing: signature.description)
        #expect(again.description == signature.description)
    }

    @Test func `Understands units hexadecimal and bare buffers`() throws {
        let signature = try FunctionSignature(
            parsing: "int( void )\n"
        )
        #expect(signature.arguments.isEmpty)
        let buffers = try FunctionSignature(
            parsing: "int(out bytes, out string(1MiB), flags: int = 0x241)"
        )
        #expect(
            buffers.arguments.map(\.passing) == [
                .buffer(OutputBuffer(capacity: 65536, text: false, given: false)),
                .buffer(OutputBuffer(capacity: 1 << 20, text: true, given: false)),
                .value(.scalar(.int)),
            ]
        )
        #expect(buffers.arguments[2].preset == .integer(0x241))
    }

    @Test func `Keeps its limits`() throws {
        func ints(_ count: Int) -> String {
            "void(" + Array(repeating: "int", count: count).joined(separator: ",") + ")"
        }
        func nested(_ depth: Int) -> String {
            String(repeating: "{", count: depth) + "int" + String(repeating: "}", count: depth)
                + "()"
        }
        #expect(FunctionSignature.problem(in: ints(64)) == nil)
        #expect(FunctionSignature.problem(in: ints(65))?.contains("more than 64") == true)
        #expect(FunctionSignature.problem(in: nested(8)) == nil)
        #expect(FunctionSignature.problem(in: nested(9))?.contains("deeper than 8") == true)
        #expect(FunctionSignature.problem(in: nested(2000))?.contains("deeper than 8") == true)
        #expect(FunctionSignature.problem(in: "void(out bytes(16MiB))") == nil)
        #expect(FunctionSignature.problem(in: "void(out bytes(16777217))") != nil)
        #expect(FunctionSignature.problem(in: "void(out bytes(99999999999999MiB))") != nil)
        #expect(FunctionSignature.problem(in: "void(out bytes(8MiB), out bytes(9MiB))") != nil)
        let long = "int(" + String(repeating: " ", count: 5000) + ")"
        #expect(FunctionSignature.problem(in: long)?.contains("longer than 4096") == true)
    }

    @Test func `Conditions compare results`() {
        #expect(SuccessCondition(.greaterOrEqual, .integer(0)).holds(for: 0))
        #expect(!SuccessCondition(.greaterOrEqual, .integer(0)).holds(for: -1))
        #expect(SuccessCondition(.less, .integer(3)).holds(for: 2))
        #expect(!SuccessCondition(.notEqual, .integer(2)).holds(for: 2))
        #expect(SuccessCondition(.notEqual, .null).holds(for: 0x1000))
        #expect(!SuccessCondition(.notEqual, .null).holds(for: 0))
        #expect(SuccessCondition(.equal, .null).holds(for: 0))
        #expect(SuccessCondition(.equal, .boolean(true)).holds(for: 255))
        #expect(!SuccessCondition(.equal, .boolean(true)).holds(for: 0))
        #expect(SuccessCondition(.notEqual, .boolean(true)).holds(for: 0))
    }
}
