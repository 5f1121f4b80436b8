// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Hummingbird

/// `PUT /mishaps/{place}/{kind}` plans a mishap for the next request; `DELETE /mishaps` ends all of them.
struct MishapRoute {
    let mishaps: Mishaps

    func put(place: String, kind: String) throws -> Response {
        guard let place = Mishaps.Place(rawValue: place), let kind = Mishaps.Kind(rawValue: kind),
            Mishaps.canHappen(kind, at: place)
        else {
            let known = Mishaps.Place.allCases.map { place in
                let kinds = Mishaps.Kind.allCases.filter { Mishaps.canHappen($0, at: place) }
                return "\(place)/" + kinds.map(\.rawValue).joined(separator: "|")
            }
            throw StationError(.notFound, .photos, "there is " + known.joined(separator: ", "))
        }
        mishaps.plan(kind, at: place)
        return Response(status: .noContent)
    }

    func delete() -> Response {
        mishaps.clear()
        return Response(status: .noContent)
    }
}
