/** `assize lab mine`: its list, its choices, and the writing of accepted rules. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gateway, readRules, rulesPolicy } from '@assize/gate/internal/gateway';
import { openStore } from 'assize/internal/stores';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  HandClock,
  operator,
  runtimeOver,
  writFor,
} from '../../../tests/support/ledger/runtime.ts';
import { runCommand } from '../../../tests/support/process/command.ts';

let folder: string;
const mine = (...args: string[]) =>
  runCommand(folder, undefined, 'lab', 'mine', '--store', 'sqlite:./calls.db', ...args);
const RULES =
  'id: team # ours\ndefault: allow\ntools: { bank/pay: { class: irreversible }, crm/get: { class: read } }\n';

/** Twelve sessions look an order up before they pay. The last one is bad: it does not. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-mine-'));
  const { rules } = readRules(RULES);
  const domain = gateway({ rules });
  const store = await openStore(`sqlite:${join(folder, 'calls.db')}`);
  const clock = new HandClock();
  const assize = runtimeOver(store, [domain], { policy: rulesPolicy(rules), ports: { clock } });
  const writ = writFor('agent:ada');
  const desk = await assize.create(domain, { trajectoryId: 'desk', writs: [writ] });
  const role = { name: 'agent', params: { agent: 'ada' } } as never;
  for (let i = 0; i < 13; i++) {
    clock.forward(3_600_000);
    const call = (server: string, tool: string) =>
      desk.propose({
        action: 'call',
        role,
        writ,
        args: { server, tool, args: { order: `o${i}\u001b[31m` }, session: `s${i}` } as never,
      });
    if (i < 12) await call('crm', 'get');
    await call('bank', 'pay');
  }
  await assize.close();
  await store.close();
  writeFileSync(
    join(folder, 'good.txt'),
    `${Array.from({ length: 12 }, (_, i) => `desk#s${i}`).join('\n')}\n`,
  );
  writeFileSync(join(folder, 'assize.yaml'), RULES);
  writeFileSync(join(folder, 'empty.txt'), '\n');
  expect(operator.publicKey).toMatch(/^[0-9a-f]{64}$/);
});
afterAll(() => rmSync(folder, { recursive: true }));

test('good runs are mined, and the others show what they break', async () => {
  const { code, out } = await mine('--good', 'good.txt', '--kind', 'ordering');
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^ordering-[0-9a-f]{8} +12 +12 +ada +100 % +2e-4 +no rule of a file/m),
  ]);
  expect(out).toMatch(/^ordering-[0-9a-f]{8} is broken by 1 call in the other runs: desk@25\.$/m);
  expect(out).toContain('12 runs of 13 with 24 committed calls mined: 1 rule.');
});

test('a list without rules says why it has none', async () => {
  const { code, out } = await mine('--min-support', '20');
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/0 rules\.\nThere are too few runs: .* 13 were mined\. /),
  ]);
  const { candidates, none } = JSON.parse((await mine('--kind', 'bound', '--json')).out);
  expect([candidates, none]).toEqual([[], expect.stringContaining('There is too little support')]);
  expect((await mine('--kind', 'rate', '--chance', '0')).out).toContain('No rule is significant: ');
});

test('an accepted rule is added to a file, and is not added twice', async () => {
  const { out } = await mine('--json', '--kind', 'rate', '--min-support', '2', '--chance', '0.5');
  const { candidates } = JSON.parse(out);
  const rate = candidates.find((each: any) => each.written !== undefined);
  expect(rate.written.backtest).toMatchObject({ judged: 25, difference_count: 0 });
  const chosen = ['--kind', 'rate', '--min-support', '2', '--chance', '0.5', '--accept', rate.id];
  expect((await mine(...chosen)).out).toContain(`- { id: ${rate.id}, tools: `);
  expect(await mine(...chosen, '--write', 'assize.yaml')).toMatchObject({ code: 0 });
  const written = readFileSync(join(folder, 'assize.yaml'), 'utf8');
  expect(written.startsWith(RULES)).toBe(true);
  expect(readRules(written).rules.limits.map(({ id }) => id)).toEqual([rate.id]);
  const again = await mine(...chosen, '--write', 'assize.yaml');
  expect([again.code, again.err]).toEqual([
    2,
    expect.stringContaining(`${rate.id} is used already`),
  ]);
  expect(readFileSync(join(folder, 'assize.yaml'), 'utf8')).toBe(written);
});

test.each<[string, string[], string]>([
  ['an unknown rule', ['--accept', 'bound-00000000'], 'No mined rule has the id bound-00000000'],
  ['an unknown trajectory', ['nothing'], 'The store has no trajectory nothing'],
  ['an unknown run', ['--good', 'assize.yaml'], 'No run has the id id: team'],
  ['no rule to write', ['--write', 'assize.yaml'], 'The option --write needs rules'],
  ['a share above a half', ['--chance', '0.9'], 'Pass a number from 0 to 0.5'],
  ['a file that is missing', ['--rules', 'none.yaml'], 'none.yaml'],
  ['no good run', ['--good', 'empty.txt'], 'empty.txt names no run'],
  [
    'a new file',
    ['--accept', 'bound-00000000', '--write', 'none.yaml'],
    'There is no rules file none.yaml',
  ],
])('%s is misuse', async (_, args, message) => {
  expect(await mine(...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
});
