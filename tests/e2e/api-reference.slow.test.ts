/** The pages of the HTTP API, and the examples in them that a server answered. */
import { expect, test } from 'vitest';
import type { Json } from '#base';
import { compiled } from '#schemas';
import { OPERATIONS, openApiDocument } from '#server';
import { httpPages } from '../../scripts/docs/http-pages.ts';
import { messagePages } from '../../scripts/docs/message-pages.ts';
import { recordApi } from '../../scripts/docs/recording.ts';

const recording = await recordApi();
const pages = { ...httpPages(recording.examples), ...messagePages(recording) };
const { paths, components }: any = openApiDocument(OPERATIONS, 'http://localhost');

test('each route is on one page, and each operation has an example', () => {
  const text = Object.values(pages).join('\n');
  for (const [path, methods] of Object.entries<any>(paths))
    for (const [method, { operationId }] of Object.entries<any>(methods)) {
      const section = `## ${operationId}\n\n\`${method.toUpperCase()} ${path}\`\n`;
      expect(text.split(section), operationId).toHaveLength(2);
    }
  const shown = new Set(recording.examples.map(({ id }) => id));
  expect(OPERATIONS.filter(({ id }) => !shown.has(id))).toEqual([]);
});

test('each recorded answer has the form that the document says', () => {
  const faults = recording.examples.flatMap(({ id, status, type, text }) => {
    const one = OPERATIONS.find((each) => each.id === id);
    const { schema } = paths[one?.path ?? ''][one?.method ?? ''].responses[status].content[type];
    if (!/json/.test(type)) return [];
    const { faultOf, unusable } = compiled({ ...schema, components } as Json, {
      isOnlyCheck: false,
    });
    const lines = type === 'application/jsonl' ? text.trimEnd().split('\n') : [text];
    const found = lines.map((line) => unusable ?? faultOf?.(JSON.parse(line)));
    return found.flatMap((fault) => (fault === undefined ? [] : [`${id}: ${fault}`]));
  });
  expect(faults).toEqual([]);
});

test('each type of notice, each kind of event and each problem is shown', () => {
  for (const type of ['approval.requested', 'approval.reminder', 'approval.resolved'])
    expect(pages['webhooks']).toContain(`## ${type}\n`);
  const kinds = ['root', 'commit', 'rejection', 'pending_approval', 'delegation', 'branch'];
  for (const kind of ['ready', 'alive', ...kinds])
    expect(pages['events']).toContain(`## ${kind}\n`);
  expect(recording.problems.map(({ status }) => status)).toEqual([400, 409]);
});

test('no page has a token, an address of the server or a long line of code', () => {
  for (const [name, page] of Object.entries(pages)) {
    expect(page, name).not.toMatch(/asz_\w|127\.0\.0\.1|[0-9a-f]{32}/);
    const blocks = page.match(/^```\w[\s\S]*?^```/gm) ?? [];
    const lines = blocks.flatMap((block) => block.split('\n'));
    expect(
      lines.filter((line) => line.length > 100),
      name,
    ).toEqual([]);
  }
});
