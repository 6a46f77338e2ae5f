import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Adapter in Java: total order by a sequencer, as ordered_spec.py has it. Run it with java Ordered.java
 *
 * <p>It needs no library: JSON is kept as text, which {@link #object} and {@link #array} take apart.
 */
public class Ordered {
    static final long TICK_NS = 100_000_000;
    static final int DONE = 0, NOT_SUPPORTED = 10, MALFORMED = 12, REFUSED = 22;

    /** A message of an application; both parts are JSON, and bytes may be null. */
    record Message(String m, String bytes) {
        String fields() {
            return "\"m\":" + m + (bytes == null ? "" : ",\"bytes\":" + bytes);
        }
    }

    static final List<Message> log = new ArrayList<>(), wanted = new ArrayList<>();
    static final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    static String me;
    static List<String> names;
    static Path disk;

    /** The end of the JSON value that begins at `at`. */
    static int end(String text, int at) {
        int depth = 0;
        do {
            char c = text.charAt(at++);
            if (c == '"') {
                for (; text.charAt(at) != '"'; at++) {
                    at += text.charAt(at) == '\\' ? 1 : 0;
                }
                at++;
            } else {
                depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
            }
        } while (at < text.length() && (depth > 0 || ",:}] \t\r\n".indexOf(text.charAt(at)) < 0));
        return at;
    }

    /** The values, and the keys before them, of an array or object. */
    static List<String> array(String text) {
        List<String> found = new ArrayList<>();
        for (int at = 1; at < text.length() - 1; ) {
            if (",: \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
                continue;
            }
            int end = end(text, at);
            found.add(text.substring(at, end));
            at = end;
        }
        return found;
    }

    /** The values of an object by their keys; none where the text is no object. */
    static Map<String, String> object(String text) {
        Map<String, String> found = new LinkedHashMap<>();
        if (text != null && text.startsWith("{")) {
            List<String> parts = array(text.strip());
            for (int i = 0; i + 1 < parts.size(); i += 2) {
                found.put(string(parts.get(i)), parts.get(i + 1));
            }
        }
        return found;
    }

    static String string(String json) {
        return json.substring(1, json.length() - 1);
    }

    static void say(String dest, String body) {
        out.print("{\"src\":" + me + ",\"dest\":" + dest + ",\"body\":{" + body + "}}\n");
    }

    static boolean knows(List<Message> among, Message message) {
        return among.stream().anyMatch(known -> known.m.equals(message.m));
    }

    static boolean isSequencer() {
        return me.equals(names.get(0));
    }

    /** Take note of a message that the node wants ("w") or has delivered ("d"). */
    static void note(String what, Message message) {
        (what.equals("w") ? wanted : log).add(message);
        if (what.equals("d")) {
            wanted.removeIf(other -> other.m.equals(message.m));
        }
    }

    static void keep(String what, Message message) throws IOException {
        String line = what + "\t" + message.m + "\t" + (message.bytes == null ? "" : message.bytes) + "\n";
        Files.writeString(disk, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        note(what, message);
    }

    /** Forget all but what is on the disk, which antiphon has emptied where it has to be forgotten too. */
    static void restart() throws IOException {
        log.clear();
        wanted.clear();
        if (Files.exists(disk)) {
            for (String line : Files.readAllLines(disk)) {
                String[] parts = line.split("\t", -1);
                note(parts[0], new Message(parts[1], parts[2].isEmpty() ? null : parts[2]));
            }
        }
    }

    static void deliver(Message message) throws IOException {
        keep("d", message);
        String event = "\"type\":\"antiphon.event\",\"kind\":\"deliver\",\"number\":" + log.size();
        say("\"antiphon\"", event + "," + message.fields());
    }

    static void number(Message message) throws IOException {
        deliver(message);
        for (String other : names.subList(1, names.size())) {
            say(other, "\"type\":\"order\",\"number\":" + log.size() + "," + message.fields());
        }
    }

    static int broadcast(Message message) throws IOException {
        if (message.m == null) {
            return MALFORMED;
        }
        if (knows(log, message) || knows(wanted, message)) {
            return REFUSED;
        }
        if (isSequencer()) {
            number(message);
        } else {
            keep("w", message);
            say(names.get(0), "\"type\":\"want\"," + message.fields());
        }
        return DONE;
    }

    static int tick() {
        if (isSequencer()) {
            return REFUSED;
        }
        for (Message message : wanted) {
            say(names.get(0), "\"type\":\"want\"," + message.fields());
        }
        say(names.get(0), "\"type\":\"ask\",\"next\":" + (log.size() + 1));
        return DONE;
    }

    static int receive(String src, Map<String, String> body) throws IOException {
        String type = body.get("type");
        Message message = new Message(body.get("m"), body.get("bytes"));
        if (src == null || type == null) {
            return MALFORMED;
        }
        if (type.equals("\"want\"") && message.m != null && !knows(log, message)) {
            number(message);
        } else if (type.equals("\"ask\"") && body.containsKey("next")) {
            for (int i = Integer.parseInt(body.get("next")); i <= log.size(); i++) {
                say(src, "\"type\":\"order\",\"number\":" + i + "," + log.get(i - 1).fields());
            }
        } else if (type.equals("\"order\"") && message.m != null && body.containsKey("number")
                && Integer.parseInt(body.get("number")) == log.size() + 1) {
            deliver(message);
        }
        return DONE;
    }

    static int step(Map<String, String> todo) throws IOException {
        for (Map.Entry<String, String> entry : todo.entrySet()) {
            Map<String, String> arguments = object(entry.getValue());
            switch (entry.getKey()) {
                case "broadcast":
                    return broadcast(new Message(arguments.get("m"), arguments.get("bytes")));
                case "receive":
                    return receive(arguments.get("src"), object(arguments.get("body")));
                case "tick":
                    return tick();
                case "restart":
                    restart();
                    return DONE;
                default:
                    return NOT_SUPPORTED;
            }
        }
        return DONE;
    }

    static String named(List<Message> messages) {
        return messages.stream().map(Message::m).collect(Collectors.joining(",", "[", "]"));
    }

    static String answer(Map<String, String> body) throws IOException {
        if (body.get("type").equals("\"init\"")) {
            me = body.get("node_id");
            names = array(body.get("node_ids"));
            disk = Path.of(string(object(body.get("antiphon")).get("disk")), "disk");
            restart();
            return "\"type\":\"init_ok\",\"antiphon\":{\"version\":1,"
                    + "\"can\":[\"step\",\"clock\",\"state\",\"restart\",\"disk\",\"deliver\"]}";
        }
        boolean isStep = body.get("type").equals("\"antiphon.step\"");
        int code = isStep ? step(object(body.get("do"))) : NOT_SUPPORTED;
        if (code != DONE) {
            return "\"type\":\"error\",\"code\":" + code;
        }
        String wake = isSequencer() ? "" : "\"wake_ns\":" + (Long.parseLong(body.get("now_ns")) + TICK_NS) + ",";
        String state = "\"state\":{\"log\":" + named(log) + ",\"wanted\":" + named(wanted) + "}";
        return "\"type\":\"antiphon.done\"," + wake + state;
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; out.flush()) {
            Map<String, String> message = object(line), body = object(message.get("body"));
            String reply = answer(body);
            say(message.get("src"), reply + ",\"in_reply_to\":" + body.get("msg_id"));
        }
    }
}
