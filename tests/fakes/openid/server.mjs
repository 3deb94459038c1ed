// An OpenID Connect provider: npm's `oidc-provider` with its own pages, where any name signs in with any password.
// Arguments: port, and {"client_id", "client_secret"} as JSON. Events are printed as lines of JSON. It listens at once
// and begins to answer when a line of its standard input has said where the console is: {"redirect_uri"}.

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { join } from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

console.info = console.warn = console.error; // standard output is for events
const { Provider } = await import(pathToFileURL(join(process.env.NODE_PATH, "oidc-provider", "lib", "index.js")));

const [port, options] = [Number(process.argv[2]), JSON.parse(process.argv[3])];
const report = (event, more = {}) => process.stdout.write(JSON.stringify({ event, ...more }) + "\n");
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwks = { keys: [{ ...privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: "RS256" }] };

let answer = (request, response) => response.writeHead(503).end();
const server = createServer((request, response) => answer(request, response));
server.listen(port, "127.0.0.1", () => report("listening", { port: server.address().port }));

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { redirect_uri: redirectUri } = JSON.parse(line);
  const { client_id, client_secret } = options;
  const provider = new Provider(`http://localhost:${server.address().port}`, {
    clients: [{ client_id, client_secret, redirect_uris: [redirectUri] }],
    cookies: { keys: [randomUUID()] },
    jwks,
  });
  provider.on("grant.error", (context, error) => report("refused", { error: error.message }));
  answer = provider.callback();
  report("changed");
}
