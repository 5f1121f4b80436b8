import Testing

/// The start of the program with all tests.
///
/// SwiftPM writes such a file itself if there is none of this name, and then looks for the tests of XCTest in the
/// index for editors, which `Scripts/build` leaves out. All tests here are of Swift Testing.
@main
enum TestProgram {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
