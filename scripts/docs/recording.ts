import { setTimeout } from 'node:timers/promises';
import { type OfficePrincipal, officeServer } from '../../tests/support/office/server.ts';
import { type Asked, tellStory } from '../../tests/support/office/story.ts';
import { callOperation, operationNamed } from '../../tests/support/server/calling.ts';
import type { PrincipalName } from '../../tests/support/server/serving.ts';
import { NoticeSink, type ReceivedNotice } from '../../tests/support/tools/notice-sink.ts';

/** A request and its answer, as they were on the wire. */
export interface Example {
  readonly id: string;
  readonly as: string;
  readonly method: string;
  readonly path: string;
  readonly asked: Asked;
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

export interface Recording {
  /** Of each operation the first with each status and media type. */
  readonly examples: readonly Example[];
  readonly problems: readonly Example[];
  readonly events: readonly { id: string | undefined; name: string; data: object }[];
  readonly notices: readonly ReceivedNotice[];
}

/** Plays the story of the office at a server in this process, and returns what was sent. */
export async function recordApi(): Promise<Recording> {
  const examples = new Map<string, Example>();
  const problems: Example[] = [];
  await using sink = await NoticeSink.open();
  const server = await officeServer(sink.url);
  const tokenOf = (name: OfficePrincipal): string => server.tokens[name as PrincipalName];
  const send = async (as: OfficePrincipal, id: string, path = '', asked: Asked = {}) => {
    const one = operationNamed(id);
    const values = path.split('/');
    const names = Object.keys(one.params?.shape ?? {});
    const params = Object.fromEntries(names.map((name, n) => [name, values[n] ?? '']));
    const calling = { ...asked, path: params, token: tokenOf(as) };
    const { status, headers, text, body } = await callOperation(server, id, calling);
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    const place = one.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
    const { method } = one;
    return { example: { id, as, method, path: place, asked, status, type, text }, body };
  };
  try {
    await tellStory(
      server,
      async (...request) => {
        const { example, body } = await send(...request);
        const { id, status, type, text } = example;
        if (status >= 300) throw new Error(`${id} answered ${status}: ${text}`);
        const kind = `${id} ${status} ${type}`;
        if (!examples.has(kind)) examples.set(kind, example);
        return body;
      },
      async (...request) => void problems.push((await send(...request)).example),
    );
    for (let n = 0; n < 100 && sink.of('approval.reminder').length === 0; n++)
      await setTimeout(100);
    const events = await eventsOf(server.url, tokenOf('auditor:iris'));
    return { examples: [...examples.values()], problems, events, notices: sink.received };
  } finally {
    await server.stop();
  }
}

/** The events before the first sign of life. The stream sends it after the last event. */
async function eventsOf(url: string, token: string): Promise<Recording['events']> {
  const headers = { authorization: `Bearer ${token}`, 'last-event-id': '-1' };
  const { body } = await fetch(`${url}/v1/events`, { headers });
  if (body === null) throw new Error('The stream of events has no body.');
  let text = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes('event: alive\ndata: {}\n\n')) break;
  }
  return text.trimEnd().split('\n\n').map(eventIn);
}

function eventIn(text: string): Recording['events'][number] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1];
  return { id: field('id'), name: field('event') ?? '', data: JSON.parse(field('data') ?? '{}') };
}
