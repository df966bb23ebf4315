/// A parameter of a request that cannot be read.
enum ParameterError: Error, CustomStringConvertible {
    case missing(String)
    case notANumber(String, String)
    case unknownSyntax(String)

    var description: String {
        switch self {
        case .missing(let name):
            "The parameter \(name) is missing. Write /search?\(name)=WORDS."
        case .notANumber(let name, let text):
            "\(name) is \"\(text)\". Write a whole number."
        case .unknownSyntax(let text):
            "syntax is \"\(text)\". Write words (the default) or fts."
        }
    }
}
