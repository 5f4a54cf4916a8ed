/** A chat memory over HTTP, with a model of the configuration. */
import { expect, test } from 'vitest';
import { scripted } from '../../../../tests/support/chat/chat-world.ts';
import { callOperation, succeed } from '../../../../tests/support/server/calling.ts';
import { start } from '../../../../tests/support/server/serving.ts';

const MAIN = { path: { trajectory: 'main' } };
const SAID = {
  messages: [{ role: 'user', content: 'My number is 7.' }],
  space: 'front',
  user: 'eva',
};
const SEVEN = {
  message: 1,
  subject: 'eva',
  predicate: 'phone',
  object: '7',
  confidence: 1,
  from: null,
  to: null,
};

test('the model of the server reads messages, once for each key', async () => {
  const model = scripted({ facts: [SEVEN, { ...SEVEN, predicate: 'admin' }] });
  const server = await start({ config: { memory: { model, theta: { model_version: 'stub-1' } } } });
  const remember = (key: string, body: object = SAID) =>
    succeed(server, 'chat.remember', { ...MAIN, key, body });
  const first = await remember('k1');
  expect(first).toMatchObject({
    added: [{ object: '7' }],
    skipped: [{ why: expect.stringContaining('"admin"') }],
  });
  const asked = model.prompts.length;
  expect(await remember('k1')).toMatchObject({ added: [], duplicates: [{ object: '7' }] });
  expect(model.prompts).toHaveLength(asked);
  const other = { ...SAID, messages: [{ role: 'user', content: 'It is 8.' }] };
  const conflict = await callOperation(server, 'chat.remember', {
    ...MAIN,
    key: 'k1',
    body: other,
  });
  expect(conflict).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
  expect(model.prompts).toHaveLength(asked);
});

test('a model that fails, or answers wrongly, records nothing', async () => {
  const failing = () => {
    throw new Error('the key sk-1234 is wrong');
  };
  for (const [model, status] of [
    [failing, 500],
    [scripted('I am sorry.'), 422],
  ] as const) {
    const server = await start({ config: { memory: { model } } });
    const before = await server.service.store.head('main');
    const answer = await callOperation(server, 'chat.remember', { ...MAIN, key: 'k', body: SAID });
    expect(answer.status, answer.text).toBe(status);
    expect(answer.text).not.toContain('sk-1234');
    expect(await server.service.store.head('main')).toEqual(before);
  }
});

test('an agent writes only the spaces of its grants, and pages go on', async () => {
  const server = await start();
  const facts = [1, 2, 3].map((n) => ({
    message: 1,
    subject: `s${n}`,
    predicate: 'phone',
    object: `${n}`,
  }));
  const hidden = await callOperation(server, 'chat.remember', {
    ...MAIN,
    key: 'k1',
    body: { ...SAID, space: 'back', facts },
  });
  expect(hidden).toMatchObject({
    status: 403,
    body: { code: 'forbidden', detail: expect.stringContaining('space') },
  });
  await succeed(server, 'chat.remember', { ...MAIN, key: 'k2', body: { ...SAID, facts } });
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const body = { spaces: ['front'], limit: 2, ...(cursor !== undefined && { cursor }) };
    const page = await succeed(server, 'chat.recall', { as: 'agent:scout', ...MAIN, body });
    seen.push(...page.facts.map(({ object }: { object: string }) => object));
    cursor = page.next;
    if (cursor === undefined) break;
  }
  expect(seen).toEqual(['1', '2', '3']);
  const wrong = await callOperation(server, 'chat.recall', {
    ...MAIN,
    body: { spaces: ['front'], cursor: 'e30' },
  });
  expect(wrong).toMatchObject({
    status: 400,
    body: { code: 'bad_argument', detail: expect.stringContaining('cursor') },
  });
});
