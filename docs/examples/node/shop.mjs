// A shop that sends an SMS for each order, and is told the results.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const { PABAL_URL, PABAL_API_KEY, WEBHOOK_SECRET, PORT = "3000" } = process.env;
const TRANSIENT = [429, 500, 502, 503, 504];
const MAX_TRIES = 6;
const MAX_AGE_S = 300;
const MAX_BODY_BYTES = 1_048_576;
const secret = Buffer.from(WEBHOOK_SECRET?.replace(/^whsec_/, "") ?? "", "base64");
if (secret.length === 0) throw new Error("WEBHOOK_SECRET is missing: anybody could sign with an empty one");
const events = new Set(); // in your shop: a unique column

/** The service has refused a call for good: correct it before you repeat it. */
class Refused extends Error {}

/** Calls an operation, and repeats what is transient: the same Idempotency-Key finds what was accepted. */
async function call(path, options = {}) {
  for (let tried = 1; ; tried++) {
    let wait = 2 ** (tried - 1) * (0.5 + Math.random() / 2);
    let failure;
    try {
      const headers = { apiKey: PABAL_API_KEY, ...options.headers };
      const response = await fetch(PABAL_URL + path, { ...options, headers, signal: AbortSignal.timeout(30_000) });
      const answer = await response.json();
      if (answer.result === "SUCCESS") return answer;
      failure = new Refused(`${answer.result}: ${answer.resultMessage}`);
      if (!TRANSIENT.includes(response.status)) tried = MAX_TRIES;
      wait = Math.max(wait, Number(response.headers.get("Retry-After")));
    } catch (noAnswer) {
      failure = noAnswer;
    }
    if (tried === MAX_TRIES) throw failure;
    await sleep(wait * 1000);
  }
}

/** Sends an SMS; returns the id of the request. A repeat with the same key sends nothing. */
async function sendSms(content, phoneNumber, reference, idempotencyKey) {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
  const body = JSON.stringify({ content, sender: "02-1234-5678", receivers: [{ phoneNumber, reference }] });
  return (await call("/api/message/sendSMS.v1.0", { method: "POST", headers, body })).item.requestId;
}

/** Returns the items of a webhook's delivery; null for one that is not signed, or old. */
function verify(headers, body) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" } = headers;
  const hmac = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body);
  const expected = Buffer.from(`v1,${hmac.digest("base64")}`);
  const isSigned = signatures
    .split(" ")
    .map((each) => Buffer.from(each))
    .some((each) => each.length === expected.length && timingSafeEqual(each, expected));
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) <= MAX_AGE_S;
  return isSigned && isRecent ? JSON.parse(body).data.items : null;
}

async function order(number, phone) { // POST /orders/1001/010-1234-5678
  try {
    return [200, await sendSms(`주문 ${number}이(가) 접수되었습니다.`, phone, number, `order-${number}`)];
  } catch (error) {
    return error instanceof Refused ? [400, error.message] : [503, "try again"];
  }
}

async function lookUp(requestId) { // GET /requests/REQUEST_ID
  const answer = await call(`/api/message/request.v1.0?requestId=${encodeURIComponent(requestId)}`);
  return [200, JSON.stringify(answer.item.counts)];
}

async function receive(request) { // POST /pabal: the webhook
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY_BYTES) return [413, ""];
    parts.push(part);
  }
  const items = verify(request.headers, Buffer.concat(parts));
  for (const item of items ?? []) {
    if (events.has(item.eventId)) continue; // an event may come twice
    events.add(item.eventId);
    console.log(item.reference, item.sendingStatus.value);
  }
  return [items ? 204 : 401, ""];
}

createServer(async (request, response) => {
  const [, page, first, second] = new URL(request.url, "http://localhost").pathname.split("/");
  const pages = { orders: () => order(first, second), requests: () => lookUp(first), pabal: () => receive(request) };
  const [status, text] = (await pages[page]?.().catch((error) => [502, error.message])) ?? [404, ""];
  response.writeHead(status).end(text);
}).listen(Number(PORT), "127.0.0.1");
