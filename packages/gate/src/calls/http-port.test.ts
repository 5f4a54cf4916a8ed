/** Answers that no server of Assize gives: no call is made for any of them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { CallError, connectGate, type Gate } from './index.ts';

const CALL = { run: 'r1', id: 'c1', tool: 'pay', args: { cents: 5 } };

async function gateOf(
  answer: (path: string) => { readonly status?: number; readonly text: string },
): Promise<Gate> {
  const server = createServer((request, response) => {
    const { status = 200, text } = answer(request.url ?? '');
    request.resume().on('end', () => response.writeHead(status).end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return connectGate({ url: `http://127.0.0.1:${port}`, token: 't', server: 'shop' });
}

test.each([
  '<html>Sign in</html>',
  '{}',
  '[]',
  'null',
  '{"decision":"held"}',
  '{"decision":"__proto__"}',
  '{"decision":"allowed"}',
  '{"decision":"allowed","call":"r1.c1"}',
  '{"decision":"allowed","call":"r1.c2","class":"read"}',
  '{"decision":"allowed","call":"r1.c1","class":"read","args":[]}',
  '{"decision":"denied"}',
  '{"decision":"pending","approval":5,"reason":""}',
  '{"decision":"begun","call":"r1.c2","reason":"made"}',
])('%s lets no call be made', async (text) => {
  const gate = await gateOf(() => ({ text }));
  const made: number[] = [];
  const run = gate.run(CALL, async () => made.push(1));
  await expect(run).rejects.toMatchObject({ name: 'CallError', code: 'bad_answer' });
  await expect(gate.judge(CALL)).rejects.toThrow(CallError);
  expect(made).toEqual([]);
});

test('a report that the server could not take is sent again', async () => {
  let reports = 0;
  const gate = await gateOf((path) => {
    if (!path.endsWith('/report'))
      return { text: '{"decision":"allowed","call":"r1.c1","class":"irreversible"}' };
    reports += 1;
    return reports < 3 ? { status: 503, text: '{}' } : { text: '{"recorded":true}' };
  });
  expect(await gate.run(CALL, async () => 'paid')).toMatchObject({ end: 'done' });
  expect(reports).toBe(3);
});

test.each([
  ['no address', { url: 'localhost:4517' }],
  ['a path', { url: 'https://example.com/assize' }],
  ['a password', { url: 'https://ada:secret@example.com' }],
  ['a token with a line break', { token: 'secret\n' }],
])('%s is refused, and is not printed', (_, wrong) => {
  const options = { url: 'http://127.0.0.1:9', token: 't', server: 'shop', ...wrong };
  expect(() => connectGate(options)).toThrow(expect.objectContaining({ code: 'bad_argument' }));
  expect(() => connectGate(options)).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('secret') }),
  );
});
