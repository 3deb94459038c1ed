// Sends a campaign, follows it, and cancels a second one; start it again if it was killed: nobody gets it twice.
import createClient from "openapi-fetch";
import type { paths } from "./schema.d.ts"; // npx openapi-typescript http://127.0.0.1:8080/openapi.json -o schema.d.ts

const [baseUrl, apiKey, when, count] = process.argv.slice(2) as [string, string, string, string];
const client = createClient<paths>({ baseUrl, headers: { apiKey } });
const numbers = Array.from({ length: Number(count) }, (_, n) => `010${20000000 + n}`);

async function send(campaign: string, more: { sendDate?: string }): Promise<string[]> {
  const requests: string[] = [];
  for (let start = 0; start < numbers.length; start += 1000) {
    const receivers = numbers.slice(start, start + 1000).map((phoneNumber) => ({ phoneNumber, reference: campaign }));
    const body = { content: "행사 안내입니다.", sender: "02-1234-5678", receivers, ...more };
    const header = { "Idempotency-Key": `campaign.ts ${campaign} ${start}` };
    const { data, error } = await client.POST("/api/message/sendSMS.v1.0", { params: { header }, body });
    if (!data?.item.requestId) throw new Error(JSON.stringify(error));
    console.log(campaign, start, requests.push(data.item.requestId));
  }
  return requests;
}
for (const requestId of await send("now", {})) {
  for (let left = 1; left > 0; await new Promise((resolve) => setTimeout(resolve, 200))) {
    const { data } = await client.GET("/api/message/request.v1.0", { params: { query: { requestId } } });
    left = data ? data.item.counts.waiting + data.item.counts.sending : 1;
  }
}
for (const requestId of await send("later", { sendDate: when }))
  await client.POST("/api/message/cancel.v1.0", { body: { requestId } });
