import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.ExtendedReceiverAdapter;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.View;
import org.jgroups.util.UUID;

/**
 * A member of a JGroups group for `antiphon cluster --system jgroups`. Arguments: its name, its stack of protocols,
 * the number of bytes of the state that it gives, and "take" if it takes another one's when it joins.
 *
 * Standard input has one command a line: "say TEXT" broadcasts, "talk MS TEXT" broadcasts every MS milliseconds from then
 * on, "leave" leaves the group and ends.
 * Standard output has one event a line, in the order in which the application meets them, behind its time in nanoseconds
 * of CLOCK_MONOTONIC: "version TEXT", "me ADDRESS", "view KEY ADDRESS...", "state BYTES", "sent TEXT", "got TEXT", "left".
 * A key names a view in the whole group; - is none.
 */
public class JGroupsMember extends ExtendedReceiverAdapter {
    private static final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
    private final JChannel channel;
    private final int stateBytes;
    private boolean blocked, named;

    JGroupsMember(JChannel channel, int stateBytes) {
        this.channel = channel;
        this.stateBytes = stateBytes;
    }

    static void tell(String line) {
        synchronized (out) {
            out.print(System.nanoTime() + " " + line + "\n");
            out.flush();
        }
    }

    static String address(Address of) {
        return of instanceof UUID ? ((UUID) of).toStringLong() : of.toString();
    }

    public static void main(String[] given) throws Exception {
        tell("version " + org.jgroups.Version.description);
        JChannel channel = new JChannel(given[1]);
        JGroupsMember member = new JGroupsMember(channel, given.length > 2 ? Integer.parseInt(given[2]) : 0);
        channel.setName(given[0]);
        channel.setReceiver(member);
        channel.connect("antiphon");
        if (given.length > 3 && given[3].equals("take") && !channel.getState(null, 60_000)) {
            tell("state none");
        }
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = commands.readLine()) != null; ) {
            if (line.equals("leave")) {
                channel.close();
                tell("left");
                break;
            }
            if (line.startsWith("talk ")) {
                String[] words = line.split(" ", 3);
                Thread talking = new Thread(() -> member.talk(Long.parseLong(words[1]), words[2]));
                talking.setDaemon(true);
                talking.start();
            } else {
                member.say(line.substring("say ".length()));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private void talk(long milliseconds, String text) {
        try {
            while (true) {
                say(text);
                Thread.sleep(milliseconds);
            }
        } catch (Exception error) {
            error.printStackTrace();
        }
    }

    /** Nothing is broadcast between the beginning of a flush and the view after it. */
    private synchronized void say(String text) throws Exception {
        for (long until = System.nanoTime() + 20_000_000_000L; blocked && System.nanoTime() < until; ) {
            wait(100);
        }
        tell("sent " + text);
        channel.send(new Message(null, null, text.getBytes(StandardCharsets.UTF_8)));
    }

    @Override
    public synchronized void block() {
        blocked = true;
    }

    @Override
    public synchronized void unblock() {
        blocked = false;
        notifyAll();
    }

    @Override
    public byte[] getState() {
        return new byte[stateBytes];
    }

    @Override
    public void setState(byte[] state) {
        tell("state " + state.length);
    }

    @Override
    public void receive(Message message) {
        tell("got " + new String(message.getRawBuffer(), message.getOffset(), message.getLength(), StandardCharsets.UTF_8));
    }

    @Override
    public void viewAccepted(View view) {
        if (!named) {
            named = true;
            tell("me " + address(channel.getAddress()));
        }
        List<String> members = new ArrayList<>();
        for (Address member : view.getMembers()) {
            members.add(address(member));
        }
        String key = address(view.getVid().getCoordAddress()) + "|" + view.getVid().getId();
        tell("view " + key + " " + String.join(" ", members));
    }
}
