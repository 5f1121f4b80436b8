// SPDX-License-Identifier: Apache-2.0

import BghostBase
import Testing

@Suite struct HTTPDateTests {
    /// The second is the example of RFC 9110.
    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
        (1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT"), (-1, ""),
    ])
    func `Is written after the RFC`(seconds: Int64, text: String) {
        #expect(HTTPDate.text(unixSeconds: seconds) == text)
    }
}
