// Runs calls of npm's `solapi`, or of SOLAPI_CLIENT, against a local server: node --import redirect.mjs judge.mjs
//
// It reads lines of JSON, {"method": …, "arguments": […]}, calls that method of SolapiMessageService, and prints one
// line for each: {"value": …} or {"error": {"name", "code", "message", "failed"}}.

import { createRequire } from 'node:module';
import readline from 'node:readline';

const require = createRequire(import.meta.url);
const client = require(process.env.SOLAPI_CLIENT ?? 'solapi');

const Service = client.SolapiMessageService ?? client.default;
const service = new Service(process.env.SOLAPI_KEY, process.env.SOLAPI_SECRET);
if (client.default === Service) service.baseUrl = process.env.SOLAPI_ADDRESS; // coolsms-node-sdk

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { method, arguments: given } = JSON.parse(line);
  let answer;
  try {
    answer = { value: (await service[method](...given)) ?? null };
  } catch (error) {
    const failed = error.failedMessageList;
    answer = { error: { name: error._tag ?? error.name, code: error.errorCode, message: String(error), failed } };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
