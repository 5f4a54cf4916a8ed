/** `assize policy check`, `test` and `try` on a rules file. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from 'assize/internal/stores';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  HandClock,
  operator,
  runtimeOver,
  writFor,
} from '../../../tests/support/ledger/runtime.ts';
import { runCommand } from '../../../tests/support/process/command.ts';
import { gateway, readRules, rulesPolicy } from '../src/gateway/index.ts';

let folder: string;
const policy = (...args: string[]) => runCommand(folder, undefined, 'policy', ...args);

const RULES = `id: bank
tools:
  bank/pay: { class: irreversible, amounts: { cents: /cents } }
rules:
  - { id: small, allow: bank/pay, amount: { unit: cents, max: 100 } }
`;
const CASES = `cases:
  - name: small and large
    steps:
      - { call: bank/pay, args: { cents: 50 }, expect: allow }
      - { call: bank/pay, args: { cents: 500 }, expect: ask, rule: default }
`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-rules-'));
  mkdirSync(join(folder, 'beside'));
  writeFileSync(join(folder, 'good.yaml'), RULES + CASES);
  writeFileSync(join(folder, 'beside/rules.yml'), RULES);
  writeFileSync(join(folder, 'beside/rules.cases.yml'), CASES);
  writeFileSync(join(folder, 'failing.yaml'), RULES + CASES.replace('expect: ask', 'expect: deny'));
  writeFileSync(
    join(folder, 'wrong-rule.yaml'),
    RULES + CASES.replace('rule: default', 'rule: small'),
  );
  writeFileSync(
    join(folder, 'misspelled.yaml'),
    RULES.replace('allow: bank/pay', 'allow: bank/pya'),
  );
  writeFileSync(
    join(folder, 'faulty.yaml'),
    RULES.replace('allow:', 'alow:').replace('class: irr', 'class: ir'),
  );
  writeFileSync(join(folder, 'lower.yaml'), RULES.replace('max: 100', 'max: 40'));
  const { rules } = readRules(RULES);
  const domain = gateway({ rules });
  const store = await openStore(`sqlite:${join(folder, 'calls.db')}`);
  const clock = new HandClock();
  const assize = runtimeOver(store, [domain], { policy: rulesPolicy(rules), ports: { clock } });
  const writ = writFor('agent:ada');
  for (const trajectoryId of ['second', 'first']) {
    const trajectory = await assize.create(domain, { trajectoryId, writs: [writ] });
    clock.at =
      trajectoryId === 'first' ? '2026-03-24T09:00:00.000000Z' : '2026-03-25T09:00:00.000000Z';
    const args = { id: 'c1', server: 'bank', tool: 'pay', args: { cents: 50 } };
    const role = { name: 'agent', params: { agent: 'ada' } } as never;
    await trajectory.propose({ action: 'call', role, args, writ });
    clock.at = '2026-03-23T09:00:00.000000Z';
  }
  await assize.close();
  await store.close();
  expect(operator.publicKey).toHaveLength(64);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('check names each fault with file, line and column', async () => {
  expect(await policy('check', 'faulty.yaml')).toEqual({
    code: 1,
    out:
      'fault faulty.yaml:3:22: /tools/bank~1pay/class invalid option: expected one of "read"|"reversible"|"irreversible".\n' +
      'fault faulty.yaml:5:18: /rules/0/alow is not a known name here; correct or remove it.\n',
    err: '',
  });
  const { code, out } = await policy('check', 'faulty.yaml', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out).faults).toMatchObject([
    { file: 'faulty.yaml', line: 3, column: 22, pointer: '/tools/bank~1pay/class' },
    { line: 5, column: 18 },
  ]);
  const tested = await policy('test', 'faulty.yaml');
  expect(tested).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringMatching(/^assize: faulty.yaml:3:22: /),
  });
});

test('check warns about a name that no tool has, with the nearest', async () => {
  expect(await policy('check', 'misspelled.yaml')).toMatchObject({
    code: 1,
    out: 'warning misspelled.yaml:5:25: /rules/0/allow/0 names the unknown tool bank/pya; the nearest is bank/pay.\n',
  });
  writeFileSync(
    join(folder, 'unmet.yaml'),
    'id: a\nrules:\n  - { id: rm, deny: shell/rm, where: [{ path: /flags, any: [-rf] }] }\n',
  );
  expect(await policy('check', 'unmet.yaml')).toMatchObject({
    code: 1,
    out: 'warning unmet.yaml:3:60: /rules/0/where/0/any tests /flags for -rf, but no call has that there; write --force and --recursive.\n',
  });
  expect(await policy('check', 'good.yaml')).toMatchObject({
    code: 0,
    out: 'known: all names in bank (1 rule, 0 limits, 1 tool, 1 case)\n',
  });
});

test('test runs cases in the file and beside it, and fails on a wrong one', async () => {
  for (const file of ['good.yaml', 'beside/rules.yml'])
    expect(await policy('test', file)).toMatchObject({
      code: 0,
      out: expect.stringContaining('1 case, 2 steps: all as'),
    });
  const failing = await policy('test', 'failing.yaml', '--json');
  expect(failing.code).toBe(1);
  expect(JSON.parse(failing.out)).toMatchObject({
    cases: 1,
    failed: 1,
    steps: [
      { ok: true },
      { ok: false, expected: 'deny (default)', was: 'ask', rules: ['default'] },
    ],
  });
  expect(await policy('test', 'wrong-rule.yaml')).toMatchObject({
    code: 1,
    out: expect.stringContaining('1 not as'),
  });
  expect(await policy('test', 'lower.yaml')).toMatchObject({
    code: 2,
    err: expect.stringContaining('has no cases'),
  });
});

test('try lists the first diverging ruling first, within a period', async () => {
  const store = ['--store', 'sqlite:./calls.db'];
  expect(await policy('try', 'good.yaml', ...store)).toMatchObject({ code: 0 });
  const { code, out } = await policy('try', 'lower.yaml', ...store, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    judged: 2,
    different: 2,
    changes: { committed_to_escalated: 2 },
    differences: [
      { trajectory_id: 'first' },
      { trajectory_id: 'second', now: { invariant_id: 'ASK' } },
    ],
  });
  const later = await policy('try', 'lower.yaml', ...store, '--json', '--from', '2026-03-25');
  expect(JSON.parse(later.out)).toMatchObject({
    judged: 1,
    differences: [{ trajectory_id: 'second' }],
  });
  const none = await policy('try', 'lower.yaml', ...store, '--to', '2026-03-24T09:00:00Z');
  expect(none.code).toBe(0);
  expect(await policy('try', 'lower.yaml', ...store, '--limit', '1')).toMatchObject({
    out: expect.stringContaining('… and 1 more.'),
  });
});
