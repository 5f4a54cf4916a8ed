/** `ontology scaffold` with a model, and `accept`: output, exit codes, files, refusals. */
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type Ended,
  endOf,
  runCommand,
  startCommand,
} from '../../../tests/support/process/command.ts';
import { LIBRARY } from '../../../tests/support/process/guide-files.ts';
import { LIBRARY_ANSWER } from '../testing/library-answer.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const assize = (...args: string[]): Promise<Ended> =>
  runCommand(folder, 'sqlite:./a.db', 'assize-experiments', 'ontology', ...args);
const MODEL = ['--model-command', 'echo asked >> asked.txt; cat answer.json'];
const wrong = { ...LIBRARY_ANSWER, initial: { ...LIBRARY_ANSWER.initial, funds: 'much' } };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-draft-'));
  writeFileSync(at('library.ttl'), LIBRARY);
  writeFileSync(at('answer.json'), JSON.stringify(LIBRARY_ANSWER));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a draft is written, asked for once, reviewed, and accepted by a person', async () => {
  const first = await assize('scaffold', 'library.ttl', 'made', ...MODEL, '--json');
  expect(first.code, first.err).toBe(0);
  const document = JSON.parse(first.out);
  expect(document).toMatchObject({
    ok: true,
    file: 'made/library.draft.ts',
    rounds: [{ round: 1 }],
  });
  expect(document.best.module).toMatch(/^[0-9a-f]{64}$/);
  const again = await assize('scaffold', 'library.ttl', 'made', ...MODEL);
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining('round 1: no error') });
  expect(readFileSync(at('asked.txt'), 'utf8')).toBe('asked\n');
  expect(existsSync(at('made/library.ts'))).toBe(false);

  const review = await assize('accept', 'made', '--json');
  expect(JSON.parse(review.out)).toMatchObject({ domain: 'library', module: document.best.module });
  expect(existsSync(at('made/library.ts'))).toBe(false);
  const { marks } = JSON.parse(review.out);
  const lines = readFileSync(at('made/library.draft.ts'), 'utf8').split('\n');
  for (const { line, source } of marks) expect(lines[line - 1]).toContain(source);
  expect(marks.map(({ source }: { source: string }) => source)).toContain(
    'state.loans[member][book]',
  );
  expect((await assize('accept', 'made')).out).toMatch(
    /Read closely.*\n( {2}line \d+ {2}(computed key|constant) {2}.*\n)+\n/,
  );
  const model = JSON.parse(review.out).model;
  for (const [principal, why] of [
    [model, `${model} requested this proposal`],
    ['ada', 'It needs a counselor of the kind human'],
  ])
    expect(await assize('accept', 'made', '--as', principal)).toMatchObject({
      code: 2,
      err: expect.stringContaining(why),
    });
  writeFileSync(at('made/library.ts'), 'mine');
  expect(await assize('accept', 'made', '--as', 'human:ada')).toMatchObject({
    code: 2,
    err: expect.stringContaining('would overwrite made/library.ts'),
  });
  expect(JSON.parse((await assize('accept', 'made', '--json')).out)).not.toHaveProperty('accepted');
  rmSync(at('made/library.ts'));
  const accepted = await assize('accept', 'made', '--as', 'human:ada');
  expect(accepted.out).toContain(
    'accepted by human:ada\nmade/library.ts written\nmade/library.test.ts written\n',
  );
  expect(readFileSync(at('made/library.ts'), 'utf8')).toBe(
    readFileSync(at('made/library.draft.ts'), 'utf8'),
  );
  const said = expect.stringMatching(/^already accepted by human:ada at \d{4}-\d\d-\d\d.*\n$/m);
  for (const more of [[], ['--as', 'human:ben']]) {
    const again = await assize('accept', 'made', ...more);
    expect(again).toMatchObject({ code: 0, out: said });
    expect(again.out).not.toMatch(/library\.ts written|Accept it with/);
  }
  const before = statSync(at('made/library.ts')).mtimeMs;
  for (const principal of [model, 'agent:ada', 'ada', 'human:', 'human:ada ', ''])
    expect(await assize('accept', 'made', '--as', principal), principal).toMatchObject({ code: 2 });
  expect(statSync(at('made/library.ts')).mtimeMs).toBe(before);
});

test('a changed draft is not accepted, and a new one does not overwrite it', async () => {
  await assize('scaffold', 'library.ttl', 'made', ...MODEL);
  appendFileSync(at('made/library.draft.ts'), '// changed\n');
  expect(await assize('accept', 'made', '--as', 'human:ada')).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('its file was changed'),
  });
  expect(existsSync(at('made/library.ts'))).toBe(false);
  rmSync(at('asked.txt'));
  for (const model of [MODEL, ['--model-command', 'echo other >> asked.txt; cat answer.json']])
    expect(await assize('scaffold', 'library.ttl', 'made', ...model)).toMatchObject({
      code: 2,
      err: expect.stringContaining('would overwrite made/library.draft.ts'),
    });
  // No model was asked for a file that could not be written.
  expect(existsSync(at('asked.txt'))).toBe(false);
  expect(await assize('accept', 'made/library.draft.ts')).toMatchObject({
    code: 2,
    err: expect.stringContaining('made/library.draft.ts is a file. Name its folder: made.'),
  });
});

test('a model that never succeeds: what is left, and exit code 1', async () => {
  writeFileSync(at('answer.json'), JSON.stringify(wrong));
  const ended = await assize('scaffold', 'library.ttl', 'made', ...MODEL, '--rounds', '2');
  expect(ended.code).toBe(1);
  expect(ended.out).toMatch(/^round 2: 1 error, 0 warnings\n {2}error {4}types {2}/m);
  expect(ended.out).toContain('The draft cannot be accepted.');
  expect((await assize('accept', 'made', '--as', 'human:ada')).code).toBe(2);
});

test('text of a model cannot steer the terminal', async () => {
  const trick = '\u001b[2Jgone\u202e';
  writeFileSync(at('answer.json'), JSON.stringify({ ...LIBRARY_ANSWER, [trick]: 1 }));
  const { out } = await assize('scaffold', 'library.ttl', 'made', ...MODEL, '--rounds', '1');
  expect(out).toContain('gone');
  expect([out.includes('\u001b'), out.includes('\u202e')]).toEqual([false, false]);
});

test('a chat model is asked over HTTP, with its reference', async () => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString());
    const message = { role: 'assistant', content: JSON.stringify(LIBRARY_ANSWER) };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    writeFileSync(at('bfo.txt'), 'A role is an externally grounded realizable entity.');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const args = ['--model', `openai:small@${url}`, '--bfo', 'bfo.txt'];
    const ended = await assize('scaffold', 'library.ttl', 'made', ...args, '--record', 'record.db');
    expect(ended.code, ended.err).toBe(0);
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain('externally grounded');
    expect(existsSync(at('record.db'))).toBe(true);
    expect((await assize('accept', 'made', '--record', 'record.db')).out).toContain(
      'by model:openai:small',
    );
    const drafted = await assize('draft', 'bfo.txt', ...args);
    expect([drafted.code, bodies.length]).toEqual([2, 3]);
    expect(bodies[1]!.match(/externally grounded/g)).toHaveLength(2);
  } finally {
    server.close();
  }
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s ends the command, and the program that it asks',
  async (signal) => {
    for (const line of [
      ['scaffold', 'library.ttl', `made-${signal}`],
      ['draft', 'library.ttl'],
    ]) {
      const pids = at(`pids-${signal}-${line[0]}`);
      const asking = `sleep 60 & echo $$ $! > ${pids}.new; mv ${pids}.new ${pids}; wait`;
      const child = startCommand(
        folder,
        'sqlite:./a.db',
        'assize-experiments',
        'ontology',
        ...line,
        '--model-command',
        asking,
      );
      const ended = endOf(child);
      await vi.waitFor(() => expect(existsSync(pids)).toBe(true), {
        timeout: 60_000,
        interval: 50,
      });
      child.kill(signal);
      expect(await ended).toMatchObject({
        code: signal === 'SIGINT' ? 130 : 143,
        err: expect.stringContaining(`Stopped by ${signal}`),
      });
      for (const pid of readFileSync(pids, 'utf8').trim().split(' ').map(Number))
        await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), {
          timeout: 20_000,
        });
    }
  },
);

test('help names the options, and has examples', async () => {
  const scaffold = await assize('scaffold', '--help');
  expect(scaffold.out).toMatch(
    /--model <model>[\s\S]*--rounds <n>[\s\S]*--bfo <file>[\s\S]*Examples:/,
  );
  expect((await assize('accept', '--help')).out).toMatch(
    /--as <principal>[\s\S]*Examples:\n {2}assize-experiments ontology accept/,
  );
});

test('options that do not fit are refused, and nothing is written', async () => {
  writeFileSync(at('long.txt'), 'x'.repeat(600_001));
  writeFileSync(at('bfo.pdf'), Buffer.from([0x25, 0x50, 0x44, 0x46, 0xff, 0xfe]));
  for (const [args, err] of [
    [['--rounds', '3'], '--rounds needs a model'],
    [['--time-limit', '3'], '--time-limit needs a model'],
    [[...MODEL, '--rounds', '21'], 'whole number from 1 to 20'],
    [[...MODEL, '--rounds', '0'], 'whole number from 1 to 20'],
    [[...MODEL, '--threshold', '0.5'], 'Leave --threshold out'],
    [[...MODEL, '--answers', 'x.json'], 'Pass one of'],
    [['--model', 'nonsense'], 'is not valid'],
    [[...MODEL, '--bfo', 'long.txt'], 'has 600001 characters'],
    [[...MODEL, '--bfo', 'bfo.pdf'], 'is not UTF-8 text'],
    [[...MODEL, '--bfo', 'nowhere.txt'], 'does not exist'],
  ] as const)
    expect(await assize('scaffold', 'library.ttl', 'made', ...args), args.join(' ')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(err),
    });
  expect(await assize('accept', 'made')).toMatchObject({
    code: 2,
    err: expect.stringContaining('does not exist'),
  });
  expect(await assize('accept', '.')).toMatchObject({
    code: 2,
    err: expect.stringContaining('has no draft'),
  });
  expect(readdirSync(folder).sort()).toEqual(['answer.json', 'bfo.pdf', 'library.ttl', 'long.txt']);
});
