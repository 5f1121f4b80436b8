// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The web page behind a link to an action.
struct ActionPage {
    var title: String
    var text: String
    /// The title of the button; `nil` means no button.
    var button: String?

    func response(_ status: HTTPResponse.Status = .ok) -> Response {
        let button =
            button.map { "<form method=\"post\"><button>\(Self.escaped($0))</button></form>" } ?? ""
        let html = """
            <!doctype html>
            <html lang="en"><meta charset="utf-8"><title>\(Self.escaped(title))</title>
            <meta name="viewport" content="width=device-width">
            <h1>\(Self.escaped(title))</h1>
            <p>\(Self.escaped(text))</p>
            \(button)
            </html>

            """
        var headers: HTTPFields = [
            .contentType: "text/html; charset=utf-8",
            .cacheControl: "no-store",
            .contentSecurityPolicy:
                "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
            .xContentTypeOptions: "nosniff",
        ]
        // The URL is a secret. With `no-referrer`, the browser would send the form without an origin.
        if let name = HTTPField.Name("Referrer-Policy") { headers[name] = "same-origin" }
        return Response(
            status: status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: html))
        )
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for character in PrintableText.escaped(text) {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.append(character)
            }
        }
        return result
    }
}
