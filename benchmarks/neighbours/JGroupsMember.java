import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.ReceiverAdapter;

/** One member of a JGroups group: arguments are stack, members, payload, seconds, warm-up, messages a second (0: all it can). */
public class JGroupsMember {
    static final AtomicLong delivered = new AtomicLong();
    static volatile boolean sampling;
    static long[] latencies = new long[1 << 22];
    static int samples;

    public static void main(String[] given) throws Exception {
        int members = Integer.parseInt(given[1]), payload = Integer.parseInt(given[2]);
        double seconds = Double.parseDouble(given[3]), warm = Double.parseDouble(given[4]);
        double rate = Double.parseDouble(given[5]);
        JChannel channel = new JChannel(given[0]);
        channel.setReceiver(new ReceiverAdapter() {
            public void receive(Message message) {
                delivered.incrementAndGet();
                if (sampling && message.getSrc().equals(channel.getAddress()) && samples < latencies.length) {
                    long sent = ByteBuffer.wrap(message.getRawBuffer(), message.getOffset(), 8).getLong();
                    latencies[samples++] = System.nanoTime() - sent;
                }
            }
        });
        channel.connect("benchmark");
        while (channel.getView().size() < members) {
            Thread.sleep(10);
        }
        Thread.sleep(500);
        Thread sender = new Thread(() -> send(channel, payload, rate / members));
        sender.setDaemon(true);
        sender.start();
        Thread.sleep((long) (1000 * warm));
        long before = delivered.get(), cpu = cpu(), at = System.nanoTime();
        sampling = true;
        Thread.sleep((long) (1000 * seconds));
        sampling = false;
        long messages = delivered.get() - before;
        double elapsed = (System.nanoTime() - at) / 1e9;
        long[] own = Arrays.copyOf(latencies, samples);
        Arrays.sort(own);
        StringBuilder told = new StringBuilder();
        if (own.length >= 100) {
            for (double part : new double[] {0.5, 0.9, 0.99, 0.999}) {
                told.append(told.length() == 0 ? "" : ",").append(own[(int) (part * (own.length - 1))] / 1e6);
            }
        }
        String resident = java.nio.file.Files.lines(java.nio.file.Path.of("/proc/self/status"))
            .filter(line -> line.startsWith("VmRSS")).findFirst().get().replaceAll("[^0-9]", "");
        System.out.printf("{\"rate\":%f,\"cpu\":%f,\"messages\":%d,\"rss_mb\":%f,\"latencies\":[%s]}%n",
            messages / elapsed, (cpu() - cpu) / 1e9, messages, Long.parseLong(resident) / 1024.0, told);
        System.out.flush();
        Thread.sleep(1500);
        Runtime.getRuntime().halt(0);
    }

    static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime();
    }

    static void send(JChannel channel, int payload, double rate) {
        try {
            long began = System.nanoTime(), sent = 0;
            while (true) {
                long due = rate == 0 ? Long.MAX_VALUE : (long) ((System.nanoTime() - began) / 1e9 * rate);
                for (; sent < due; sent++) {
                    byte[] data = new byte[payload];
                    ByteBuffer.wrap(data).putLong(System.nanoTime());
                    channel.send(new Message(null, null, data));
                }
                Thread.sleep(1);
            }
        } catch (Exception error) {
            error.printStackTrace();
            System.exit(1);
        }
    }
}
