internal import Foundation
internal import FoundationXML
internal import SafeFiles

/// An answer of S3 in XML: a list of objects, or an error.
struct S3Listing: Sendable {
    /// An object of a list.
    struct Object: Sendable {
        var key = ""
        var size = 0
        /// The time of its last change, in nanoseconds since 1970.
        var modified: Int64 = 0
    }

    var objects: [Object] = []
    /// What stands for several objects: the part of their names up to a slash.
    var folders: [String] = []
    /// Names the next page.
    var next: String?
    /// The name of the whole answer; nil if it has no end.
    var root: String?
    /// The fields of an error, such as `Code`, `Message` and `Region`.
    var fields: [String: String] = [:]

    /// Reads an answer; nil if it is no XML, or only a part of it.
    init?(_ bytes: [UInt8]) {
        let reader = Reader()
        let parser = XMLParser(data: Data(bytes))
        parser.delegate = reader
        guard parser.parse(), reader.listing.root != nil else { return nil }
        self = reader.listing
    }

    private init() {}

    /// Fills a listing.
    private final class Reader: NSObject, XMLParserDelegate {
        var listing = S3Listing()
        private var names: [String] = []
        private var text = ""
        private var object = Object()

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            names.append(name)
            text = ""
            if name == "Contents" { object = Object() }
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            _ = names.popLast()
            if names.isEmpty { listing.root = name }
            switch (names.last, name) {
            case ("Contents", "Key"): object.key = S3Listing.decoded(text)
            case ("Contents", "Size"): object.size = Int(text) ?? 0
            case ("Contents", "LastModified"): object.modified = S3Listing.time(text)
            case (_, "Contents"): listing.objects.append(object)
            case ("CommonPrefixes", "Prefix"): listing.folders.append(S3Listing.decoded(text))
            case (_, "NextContinuationToken"): listing.next = text
            case ("Error", _): listing.fields[name] = text
            default: break
            }
            text = ""
        }
    }

    /// Names are asked for in the form of addresses, as XML cannot hold all characters.
    private static func decoded(_ text: String) -> String {
        text.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? text
    }

    private static func time(_ text: String) -> Int64 {
        let style = Date.ISO8601FormatStyle(timeZone: .gmt)
        guard
            let date = (try? style.year().month().day().time(includingFractionalSeconds: true).parse(text))
                ?? (try? style.parse(text))
        else { return 0 }
        let seconds = date.timeIntervalSince1970
        return seconds.magnitude < 9e9 ? Int64((seconds * 1e3).rounded()) * 1_000_000 : 0
    }
}
