// Drives a running service through every operation, by types that openapi-typescript generated.
// Arguments: base URL, key, address of a webhook. Prints the paths that it called, as JSON.
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths, webhooks } from "./schema.d.ts";

type Schemas = components["schemas"];
type ResultPost = webhooks["message.result"]["post"]["requestBody"]["content"]["application/json"];

const [baseUrl, apiKey, url] = process.argv.slice(2) as [string, string, string];
const called = new Set<string>();
const recorder: Middleware = {
  onRequest({ schemaPath }) {
    called.add(schemaPath);
    return undefined;
  },
};
const client = createClient<paths>({ baseUrl, headers: { apiKey } });
client.use(recorder);

async function ok<T>(call: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  const { data, error } = await call;
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

function given<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a value is missing");
  return value;
}

const phoneNumber = "010-1234-5678";
const sender = "02-1234-5678";
const receivers: Schemas["Receiver"][] = [{ phoneNumber, templateData: { name: "홍길동" }, reference: "1" }];
const content = "#{name}님, 안녕하세요";
const channelId = "@typescript";
const maxPolls = 2000; // events are numbered soon after they have happened

async function registerChannel(): Promise<string> {
  const { items } = await ok(client.POST("/api/sender/categories.v1.0", { body: {} }));
  const cellphone = "010-9999-0000";
  const category = given(items[0]).code;
  const made = await ok(client.POST("/api/sender/create.v1.0", { body: { category, channelId, cellphone } }));
  if (made.item.authStatus.value !== "waiting") throw new Error(made.item.authStatus.label);
  const query = { phoneNumber: cellphone, pageSize: 1 };
  const phone = await ok(client.GET("/api/simulator/phone.v1.0", { params: { query } }));
  const token = given(/\d{6}/.exec(given(phone.items[0]).content)?.[0]);
  await ok(client.POST("/api/sender/auth.v1.0", { body: { channelId, token } }));
  const list = await ok(client.GET("/api/sender/list.v1.0", { params: { query: { authStatus: "approval" } } }));
  return given(given(list.items[0]).senderKey);
}

async function approveTemplate(senderKey: string, templateCode: string): Promise<void> {
  const { items } = await ok(client.GET("/api/template/categories.v1.0"));
  const body: Schemas["WriteTemplate"] = {
    senderKey,
    templateCode,
    name: "주문 확인",
    content,
    category: given(items[0]).code,
    buttons: [{ buttonType: "webLink", name: "열기", mobileUrl: "https://shop.example" }],
  };
  await ok(client.POST("/api/template/create.v1.0", { body }));
  await ok(client.POST("/api/template/update.v1.0", { body: { ...body, name: "주문" } }));
  const key = { senderKey, templateCode };
  const { item } = await ok(client.POST("/api/template/request.v1.0", { body: key }));
  if (item.status.value !== "approved") throw new Error(item.status.label);
  await ok(client.GET("/api/template/list.v1.0", { params: { query: { ...key, status: "approved" } } }));
  await ok(client.POST("/api/template/create.v1.0", { body: { ...body, templateCode: "UNUSED" } }));
  await ok(client.POST("/api/template/delete.v1.0", { body: { senderKey, templateCode: "UNUSED" } }));
}

async function send(senderKey: string, templateCode: string): Promise<string> {
  const text = { content, sender, receivers };
  const header = { "Idempotency-Key": "typescript-1" };
  const first = await ok(client.POST("/api/message/sendSMS.v1.0", { params: { header }, body: text }));
  const again = await ok(client.POST("/api/message/sendSMS.v1.0", { params: { header }, body: text }));
  if (first.item.requestId !== again.item.requestId) throw new Error("it was sent twice");
  const dry = { params: { header: { "Dry-Run": "true" as const } }, body: text };
  const { item } = await ok(client.POST("/api/message/sendSMS.v1.0", dry));
  if (item.receivers?.[0]?.product !== "sms") throw new Error("the dry run says nothing");
  await ok(client.POST("/api/message/sendLMS.v1.0", { body: { ...text, subject: "제목" } }));
  await ok(client.POST("/api/message/sendMMS.v1.0", { body: text }));
  await ok(client.POST("/api/message/sendAlimtalk.v1.0", { body: { senderKey, templateCode, receivers } }));
  await ok(client.POST("/api/message/sendFriendtalk.v1.0", { body: { senderKey, content, receivers } }));
  const brand = { senderKey, messageType: "text" as const, targeting: "I" as const, content, receivers };
  await ok(client.POST("/api/message/sendBrandMessage.v1.0", { body: brand }));
  const sendDate = new Date(Date.now() + 20 * 24 * 3600_000).toISOString().slice(0, 16).replace("T", " ");
  const later = await ok(client.POST("/api/message/sendSMS.v1.0", { body: { ...text, sendDate } }));
  const canceled = await ok(
    client.POST("/api/message/cancel.v1.0", { body: { requestId: given(later.item.requestId) } }),
  );
  if (canceled.item.canceledCount !== 1) throw new Error("nothing was cancelled");
  return given(first.item.requestId);
}

// Looks everything up; returns the minute of the first request.
async function lookUp(requestId: string): Promise<string> {
  const byReceiver = await ok(client.POST("/api/message/list.v1.0", { body: { receivers: phoneNumber } }));
  if (byReceiver.totalCount < 6) throw new Error("messages are missing");
  const request = await ok(client.GET("/api/message/request.v1.0", { params: { query: { requestId } } }));
  const messageId = given(request.items[0]).messageId;
  const detail = await ok(client.GET("/api/message/detail.v1.0", { params: { query: { messageId } } }));
  if (detail.item.events[0]?.event !== "accepted") throw new Error("the message has no events");
  const results = await ok(client.GET("/api/message/results.v1.0", { params: { query: { limit: 100 } } }));
  const post: ResultPost = { type: "message.result", timestamp: results.time, data: { items: results.items } };
  if (post.data.items.length !== results.resultCount) throw new Error("results are missing");
  const query = { from: detail.item.requestDate.slice(0, 10), interval: "day" as const, groupBy: "product" };
  await ok(client.GET("/api/statistics/list.v1.0", { params: { query } }));
  await ok(client.GET("/api/message/inbound.v1.0"));
  return detail.item.requestDate.slice(0, 16);
}

async function manage(since: string): Promise<void> {
  await ok(client.POST("/api/optOut/add.v1.0", { body: { phoneNumbers: [phoneNumber], reason: "전화" } }));
  await ok(client.GET("/api/optOut/list.v1.0", { params: { query: { phoneNumber } } }));
  const removed = await ok(client.POST("/api/optOut/remove.v1.0", { body: { phoneNumber } }));
  if (removed.item.removedCount !== 1) throw new Error("the opt-out was not there");
  const body: Schemas["CreateWebhook"] = { url, events: ["message.result"], products: ["sms"] };
  const { webhookId } = (await ok(client.POST("/api/webhook/create.v1.0", { body }))).item;
  await ok(client.POST("/api/webhook/update.v1.0", { body: { webhookId, description: "주문" } }));
  const test = await ok(client.POST("/api/webhook/test.v1.0", { body: { webhookId } }));
  if (test.item.error === undefined) throw new Error("nobody listens there");
  if ((await ok(client.GET("/api/webhook/list.v1.0"))).items.length !== 1) throw new Error("no webhook is listed");
  await ok(client.POST("/api/webhook/replay.v1.0", { body: { webhookId, since } }));
  await ok(client.GET("/api/webhook/deliveries.v1.0", { params: { query: { webhookId } } }));
  const listEvents = () => ok(client.GET("/api/webhook/events.v1.0", { params: { query: { since } } }));
  let events = await listEvents();
  for (let polls = 0; events.items.length === 0 && polls < maxPolls; polls++) events = await listEvents();
  if (events.items.length === 0) throw new Error("there were events");
  await ok(client.POST("/api/webhook/delete.v1.0", { body: { webhookId } }));
  await ok(client.POST("/api/privacy/export.v1.0", { body: { phoneNumber } }));
  await ok(client.POST("/api/privacy/erase.v1.0", { body: { phoneNumber } }));
}

async function isRefusedByName(): Promise<void> {
  const body = { content, sender, receivers: [{ phoneNumber: "1" }] };
  const { error } = await client.POST("/api/message/sendSMS.v1.0", { body });
  if (error?.errors?.[0]?.field !== "receivers[0].phoneNumber") throw new Error(JSON.stringify(error));
}

const senderKey = await registerChannel();
await approveTemplate(senderKey, "T1");
await manage(await lookUp(await send(senderKey, "T1")));
await isRefusedByName();
await ok(client.POST("/api/sender/delete.v1.0", { body: { senderKey } }));
console.log(JSON.stringify([...called]));
