/// An unreadable parameter of a request.
enum ParameterError: Error, CustomStringConvertible {
    case missing(String, example: String)
    case notANumber(String, String)
    case notABool(String, String)
    case outOfRange(String, Int, ClosedRange<Int>)
    case unknownSyntax(String)
    case unknownOrder(String)
    case unknownLevel(String)
    case unknownState(String)
    case tooLong(String, limit: Int)
    case notBelow(String)
    case notAFolder(String)
    case malformed

    var description: String {
        switch self {
        case .missing(let name, let example):
            "The parameter \(name) is missing. Write \(example)."
        case .notANumber(let name, let text):
            "\(name) is \"\(text)\". Write a whole number."
        case .notABool(let name, let text):
            "\(name) is \"\(text)\". Write true or false."
        case .outOfRange(let name, let value, let range):
            "\(name) is \(value). Choose a value from \(range.lowerBound) to \(range.upperBound)."
        case .unknownSyntax(let text):
            "syntax is \"\(text)\". Write words (the default), fts or substrings."
        case .unknownOrder(let text):
            "sort is \"\(text)\". Write relevance (the default) or modified."
        case .unknownLevel(let text):
            "level is \"\(text)\". Write userInteractive, userInitiated, default, utility or background."
        case .unknownState(let text):
            "state is \"\(text)\". Write running, ready, deferred, blocked, scheduled, dead, finished or cancelled."
        case .tooLong(let name, let limit):
            "\(name) is too long. Write \(limit) bytes at most."
        case .notBelow(let name):
            "\(name) leads out of its folder, or is no path. Write a path below the folder, without . and .. and double "
                + "slashes."
        case .notAFolder(let name):
            "\(name) names a file. Write the folder that holds it."
        case .malformed:
            "The parameters cannot be read. Write each once, and encode what is no letter or digit as %XX in UTF-8."
        }
    }
}
