// A receiver of webhooks based on npm's `standardwebhooks`: node receiver.js PORT OPTIONS; port 0 is any free port.
//
// OPTIONS is JSON:
//   pem     file with certificate and key
//   secret  what it verifies with; the command {"secret": …} on standard input changes it
//   status  what it answers to a verified post; default 204. {"status": …} changes it
// It prints one JSON object per line before it answers, and exits when standard input ends.

'use strict';

const fs = require('fs');
const https = require('https');
const readline = require('readline');
const { Webhook } = require('standardwebhooks');

const options = { status: 204, ...JSON.parse(process.argv[3]) };
const pem = fs.readFileSync(options.pem);

function emit(event, facts) {
  fs.writeSync(1, JSON.stringify({ event, ...facts }) + '\n');
}

function receive(request, response, body) {
  const facts = { id: request.headers['webhook-id'], path: request.url, bytes: body.length };
  let post;
  try {
    post = new Webhook(options.secret).verify(body.toString(), request.headers);
  } catch (error) {
    emit('refused', { ...facts, reason: error.message });
    response.writeHead(401).end(error.message);
    return;
  }
  const items = post.data && post.data.items ? post.data.items : [];
  emit('post', { ...facts, type: post.type, eventIds: items.map((each) => each.eventId), items });
  response.writeHead(options.status).end();
}

const server = https.createServer({ key: pem, cert: pem }, (request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => receive(request, response, Buffer.concat(parts)));
});
server.listen(Number(process.argv[2]), '127.0.0.1', () => emit('listening', { port: server.address().port }));

const commands = readline.createInterface({ input: process.stdin });
commands.on('line', (line) => {
  Object.assign(options, JSON.parse(line));
  emit('changed', {});
});
commands.on('close', () => process.exit(0));
