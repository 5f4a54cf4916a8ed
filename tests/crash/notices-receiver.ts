/**
 * A receiver of webhooks with a log of its own: `node notices-receiver.ts LOG`. It says its port,
 * and writes each notice to the log before it answers. Every third answer is an error.
 */
import { appendFileSync } from 'node:fs';
import { NoticeSink } from '../support/tools/notice-sink.ts';

const [, , log] = process.argv as [string, string, string];
const sink = await NoticeSink.open((response, n) => {
  const { id, headers, body } = sink.received.at(-1)!;
  appendFileSync(log, `${JSON.stringify({ id, signature: headers['webhook-signature'], body })}\n`);
  response.writeHead(n % 3 === 0 ? 503 : 200).end();
});
console.log(sink.port);
