import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** Adapter in Java: total order by a sequencer, as ordered_spec.py has it. Compile it with javac Ordered.java */
public class Ordered {
    static final long TICK_NS = 100_000_000;
    static final int DONE = 0, NOT_SUPPORTED = 10, MALFORMED = 12, REFUSED = 22;

    static final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    static final List<Object> log = new ArrayList<>(), wanted = new ArrayList<>();
    static final Map<Object, Object> payloads = new HashMap<>();
    static String me;
    static List<?> names;

    static void say(Object dest, Object... body) {
        out.print(Json.text(Json.object("src", me, "dest", dest, "body", Json.object(body))) + "\n");
    }

    static void deliver(Object m, Object bytes) {
        log.add(m);
        wanted.remove(m);
        payloads.put(m, bytes);
        say("antiphon", "type", "antiphon.event", "kind", "deliver", "number", log.size(), "m", m, "bytes", bytes);
    }

    static void number(Object m, Object bytes) {
        deliver(m, bytes);
        for (Object other : names.subList(1, names.size())) {
            say(other, "type", "order", "number", log.size(), "m", m, "bytes", bytes);
        }
    }

    static int broadcast(Object m, Object bytes) {
        if (m == null) {
            return MALFORMED;
        }
        if (log.contains(m) || wanted.contains(m)) {
            return REFUSED;
        }
        if (me.equals(names.get(0))) {
            number(m, bytes);
        } else {
            wanted.add(m);
            payloads.put(m, bytes);
            say(names.get(0), "type", "want", "m", m, "bytes", bytes);
        }
        return DONE;
    }

    static int tick() {
        if (me.equals(names.get(0))) {
            return REFUSED;
        }
        for (Object m : wanted) {
            say(names.get(0), "type", "want", "m", m, "bytes", payloads.get(m));
        }
        say(names.get(0), "type", "ask", "next", log.size() + 1);
        return DONE;
    }

    static int receive(Object src, Map<?, ?> body) {
        Object m = body.get("m"), number = body.get("number");
        if ("want".equals(body.get("type")) && !log.contains(m)) {
            number(m, body.get("bytes"));
        } else if ("order".equals(body.get("type")) && Long.valueOf(log.size() + 1).equals(number)) {
            deliver(m, body.get("bytes"));
        } else if ("ask".equals(body.get("type"))) {
            for (int i = ((Long) body.get("next")).intValue(); i <= log.size(); i++) {
                Object it = log.get(i - 1);
                say(src, "type", "order", "number", i, "m", it, "bytes", payloads.get(it));
            }
        }
        return DONE;
    }

    static int step(Map<?, ?> todo) {
        for (Map.Entry<?, ?> entry : todo.entrySet()) {
            Map<?, ?> given = (Map<?, ?>) entry.getValue();
            switch ((String) entry.getKey()) {
                case "broadcast":
                    return broadcast(given.get("m"), given.get("bytes"));
                case "receive":
                    return given.isEmpty() ? MALFORMED : receive(given.get("src"), (Map<?, ?>) given.get("body"));
                case "tick":
                    return tick();
                case "restart": // nothing outlives a crash
                    log.clear();
                    wanted.clear();
                    return DONE;
                default:
                    return NOT_SUPPORTED;
            }
        }
        return DONE;
    }

    static Map<String, Object> answer(Map<?, ?> body) {
        if (body.get("type").equals("init")) {
            me = (String) body.get("node_id");
            names = (List<?>) body.get("node_ids");
            List<String> can = List.of("step", "clock", "state", "restart", "deliver");
            return Json.object("type", "init_ok", "antiphon", Json.object("version", 1, "can", can));
        }
        int code = body.get("type").equals("antiphon.step") ? step((Map<?, ?>) body.get("do")) : NOT_SUPPORTED;
        if (code != DONE) {
            return Json.object("type", "error", "code", code);
        }
        Long wake = me.equals(names.get(0)) ? null : (Long) body.get("now_ns") + TICK_NS;
        Map<String, Object> state = Json.object("log", log, "wanted", wanted);
        return Json.object("type", "antiphon.done", "wake_ns", wake, "state", state);
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; out.flush()) {
            Map<?, ?> message = (Map<?, ?>) Json.parse(line), body = (Map<?, ?>) message.get("body");
            Map<String, Object> reply = answer(body);
            reply.put("in_reply_to", body.get("msg_id"));
            out.print(Json.text(Json.object("src", me, "dest", message.get("src"), "body", reply)) + "\n");
        }
    }
}
