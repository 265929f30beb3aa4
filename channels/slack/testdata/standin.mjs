// Starts emulate's Slack on a port of the loopback interface, prints the port, and ends when its standard input does.
// Arguments: the directory that emulate is installed in, the address by which it is reached, and what it is to know.
import net from "node:net";

// It would listen on every interface, on a port that has to be known before.
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  const done = args.find((a) => typeof a === "function");
  return listen.call(this, { port: 0, host: "127.0.0.1" }, () => {
    console.log(this.address().port);
    done?.();
  });
};

const [dir, baseUrl, known] = process.argv.slice(2);
const { createEmulator } = await import(`${dir}/node_modules/emulate/dist/api.js`);
await createEmulator({ service: "slack", baseUrl, seed: { slack: JSON.parse(known) } });
process.stdin.on("end", () => process.exit()).resume();
