import java.util.*;
import java.util.stream.Collectors;

/** JSON as maps, lists, strings, booleans, null, and numbers as long or double. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        return new Json(text).value();
    }

    /** An object of the keys and values; a value null is left out. */
    static Map<String, Object> object(Object... keysAndValues) {
        Map<String, Object> made = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            if (keysAndValues[i + 1] != null) {
                made.put((String) keysAndValues[i], keysAndValues[i + 1]);
            }
        }
        return made;
    }

    static String text(Object value) {
        if (value instanceof Map) {
            return ((Map<?, ?>) value).entrySet().stream()
                    .map(entry -> text(entry.getKey()) + ":" + text(entry.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        if (value instanceof List) {
            return ((List<?>) value).stream().map(Json::text).collect(Collectors.joining(",", "[", "]"));
        }
        if (!(value instanceof String)) {
            return String.valueOf(value);
        }
        StringBuilder made = new StringBuilder("\"");
        for (char c : ((String) value).toCharArray()) {
            made.append(c == '"' || c == '\\' ? "\\" + c : c < ' ' ? String.format("\\u%04x", (int) c) : "" + c);
        }
        return made.append('"').toString();
    }

    private char next() {
        while (" \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return text.charAt(at);
    }

    private void skip(char c) {
        if (next() == c) {
            at++;
        }
    }

    private Object value() {
        char first = next();
        if (first == '"') {
            return string();
        }
        if (first == '{' || first == '[') {
            Map<String, Object> fields = new LinkedHashMap<>();
            List<Object> items = new ArrayList<>();
            for (at++; next() != '}' && next() != ']'; skip(',')) {
                if (first == '{') {
                    String key = string();
                    skip(':');
                    fields.put(key, value());
                } else {
                    items.add(value());
                }
            }
            at++;
            return first == '{' ? fields : items;
        }
        int from = at;
        while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String word = text.substring(from, at);
        switch (word) {
            case "true": case "false":
                return Boolean.valueOf(word);
            case "null":
                return null;
            default:
                return word.matches("-?[0-9]+") ? (Object) Long.valueOf(word) : Double.valueOf(word);
        }
    }

    private String string() {
        StringBuilder made = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            char c = text.charAt(at);
            if (c == '\\') {
                c = text.charAt(++at);
                int named = "bfnrt".indexOf(c);
                if (c == 'u') {
                    c = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
                    at += 4;
                } else if (named >= 0) {
                    c = "\b\f\n\r\t".charAt(named);
                }
            }
            made.append(c);
        }
        at++;
        return made.toString();
    }
}
