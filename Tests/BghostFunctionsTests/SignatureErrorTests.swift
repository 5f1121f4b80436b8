// SPDX-License-Identifier: Apache-2.0
@testable import BghostFunctions
import Testing

@Suite struct SignatureErrorTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var text: String
        var column: Int
        var says: String
        init(_ text: String, _ column: Int, _ says: String) {
            (self.text, self.column, self.says) = (text, column, says)
        }
        var testDescription: String { text }
    }

    static let cases = [
        Case("", 1, "empty"),
        Case("   ", 1, "empty"),
        Case("int", 4, "`(` is needed"),
        Case("int(", 5, "a type is needed here, not the end"),
        Case("int(int", 8, "`)` is needed"),
        Case("int(int,)", 9, "a type is needed here, not `)`"),
        Case("int(int int)", 9, "`)` is needed or `,`"),
        Case("int() int", 7, "the signature ends or says what the result must be"),
        Case("ulnog()", 1, "did you mean `ulong`?"),
        Case("int(sting)", 5, "did you mean `string`?"),
        Case("int(size_t)", 5, "did you mean `size`?"),
        Case("int(uint32_t)", 5, "did you mean `uint32`?"),
        Case("int(xyzzy)", 5, "there is no type `xyzzy`"),
        Case("int(unsigned int)", 5, "write `uint`"),
        Case("int(const char *)", 5, "`string` for a `const char *`"),
        Case("int(char *)", 10, "pointers have words here"),
        Case("int(int[4])", 8, "arrays are not supported"),
        Case("int(int);", 9, "without `;`"),
        Case("int(\u{20AC})", 5, "has no meaning"),
        Case("int(x: int, x: int)", 13, "two arguments named `x`"),
        Case("int(arguments: int)", 5, "a meaning of its own"),
        Case("bytes(int)", 1, "cannot be `bytes`"),
        Case("int(void, int)", 5, "`void` is a result only"),
        Case("int(out void)", 9, "`void` has no value"),
        Case("int(bytes(10))", 5, "out bytes(4096)"),
        Case("int(out bytes(0))", 15, "a capacity in bytes is needed"),
        Case("int(out bytes(4KB))", 16, "KiB and MiB"),
        Case("int(out string(4, result))", 19, "text ends at its NUL"),
        Case("int(out bytes(4, 5))", 18, "`result` or the argument"),
        Case("void(out bytes(4, result))", 6, "cannot say how much"),
        Case("void(out bytes(4, n), n: int)", 6, "that the function sets"),
        Case("int(out int = 5)", 5, "write `inout`"),
        Case("int(int = \"a\")", 11, "is no value for `int`"),
        Case("int(int = 2147483648)", 11, "-2147483648 to 2147483647"),
        Case("int(uint8 = -1)", 13, "0 to 255"),
        Case("int(int = 010)", 11, "is no value"),
        Case("int(int = 1.5)", 11, "is no value"),
        Case("int(float = 1e39)", 13, "is no value"),
        Case("int(string = \"a)", 14, "not closed"),
        Case("int(string = \"\\q\")", 15, "escapes"),
        Case("int(n: int = lengthOf(data))", 5, "name it as in `data: bytes`"),
        Case("int(n: int = lengthOf(dta), data: bytes)", 5, "did you mean `data`?"),
        Case("int(n: int = lengthOf(5), data: bytes)", 23, "the name of an argument"),
        Case("int(n: double = lengthOf(d), d: bytes)", 5, "only a whole number"),
        Case("int(n: int = capacityOf(d), d: bytes)", 5, "`lengthOf(d)`"),
        Case("int(n: int = lengthOf(d), d: out bytes(9))", 5, "`capacityOf(d)`"),
        Case("int(n: int = lengthOf(d), d: int)", 5, "has no length"),
        Case("int({})", 5, "needs a member"),
        Case("int({int x})", 10, "`}` is needed"),
        Case("int({x: int, double})", 14, "either all members have names or none"),
        Case("int({x: int, x: int})", 14, "two members named `x`"),
        Case("int({bytes})", 6, "members of a struct"),
        Case("int({owned string})", 6, "cannot be `owned`"),
        Case("int(owned string)", 5, "what the function answers"),
        Case("owned int()", 7, "only a `string` can be `owned`"),
        Case("void(done, done)", 12, "`done` can stand once"),
        Case("void(cancelled, cancelled)", 17, "`cancelled` can stand once"),
        Case("void(done(int))", 11, "`done` takes nothing or `string`"),
        Case("int(...)", 5, "between the fixed arguments"),
        Case("int(int, ..., ...)", 15, "stands once"),
        Case("int(string, ..., float)", 18, "write `double`"),
        Case("int(string, ..., short)", 18, "write `int`"),
        Case("void() >= 0", 11, "a whole-numbered result is compared"),
        Case("pointer() >= null", 11, "`==` or `!=`"),
        Case("int() == null", 10, "a whole-numbered result"),
        Case("bool() > true", 8, "`==` or `!=`"),
        Case("int() == true", 10, "a `bool` with `true` or `false`"),
        Case("double() >= 0", 13, "a whole-numbered result is compared"),
        Case("uint8() == 256", 12, "0 to 255"),
    ]

    @Test(arguments: cases)
    func `Says where and what would be right`(_ wrong: Case) {
        do throws(SignatureError) {
            let signature = try FunctionSignature(parsing: wrong.text)
            Issue.record("it was read as \(signature)")
        } catch {
            #expect(error.column == wrong.column, "\(error)")
            #expect(error.message.contains(wrong.says), "\(error)")
        }
    }

    @Test func `Problem is one line with the column`() {
        #expect(FunctionSignature.problem(in: "int(string)") == nil)
        #expect(
            FunctionSignature.problem(in: "int(sting)")
                == "column 5: there is no type `sting`; did you mean `string`?"
        )
    }

    /// Cut off or changed at any place, a signature is read or refused; it never traps.
    @Test func `Any text is answered`() {
        let whole =
            "int(a: out bytes(4KiB, n), n: inout size = 0x1F, b: {x: int}, ..., s: string = \"q\\n\") >= -1"
        let scalars = Array(whole.unicodeScalars)
        for cut in scalars.indices {
            _ = FunctionSignature.problem(in: String(String.UnicodeScalarView(scalars[..<cut])))
            for replacement: Unicode.Scalar in [
                "(", "}", ",", "\"", "-", ".", "9", "\0", "\u{1F600}",
            ] {
                var changed = scalars
                changed[cut] = replacement
                _ = FunctionSignature.problem(in: String(String.UnicodeScalarView(changed)))
            }
        }
        #expect(FunctionSignature.problem(in: whole) == nil)
    }
}
