/** `assize policy check`, on a table whose rules name tool calls. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');
let folder: string;
const check = (...more: string[]) =>
  runCommand(folder, undefined, 'policy', 'check', 'table.json', ...more);

const RULES = [
  { id: 'a', effect: 'allow', actions: ['**'], calls: [{ tool: '**' }] },
  {
    id: 'b',
    effect: 'deny',
    actions: ['**'],
    calls: [{ tool: 'bank.pay' }, { tool: 'bank.pyout' }],
  },
];
const TOOLS = `
import { declareTool } from 'assize/effects';
import { z } from 'zod';
export default [
  declareTool({
    name: 'bank.pay',
    input: z.strictObject({}),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
    writes: ['bank:all'],
    execute: () => undefined,
  }),
];
`;

const DOMAIN = `
import { defineDomain, escalate, invariant, pass, reject } from 'assize';
import { z } from 'zod';
const rule = (id, options) => invariant(id, ['/n'], ({ n }) => (n < 9 ? pass : reject('nine')), options);
export const shop = defineDomain({
  name: 'shop', version: '1', state: z.object({ n: z.number() }), initial: { n: 0 },
  processes: {}, roles: {}, actions: {}, counselors: { boss: () => true },
  invariants: [rule('HARD', {}), rule('SOFT', { overridable: true }), rule('FINAL', { final: true }), rule('ASKS', { channel: 'boss' })],
});
`;

beforeAll(() => {
  // Inside the repository, so that `assize` is this package.
  folder = mkdtempSync(join(root, 'dist-policy-check-'));
  writeFileSync(
    join(folder, 'table.json'),
    JSON.stringify({ id: 't', otherwise: 'deny', rules: RULES }),
  );
  writeFileSync(join(folder, 'tools.ts'), TOOLS);
  writeFileSync(join(folder, 'shop.ts'), DOMAIN);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('without tools the tools of calls are listed as not compared', async () => {
  expect(await check()).toEqual({
    code: 1,
    out:
      'known: all actions and roles in t (2 rules)\n' +
      'not compared: tool bank.pay of rule b. Pass --tools FILE.\n' +
      'not compared: tool bank.pyout of rule b. Pass --tools FILE.\n',
    err: '',
  });
  const { code, out } = await check('--json');
  expect([code, JSON.parse(out)]).toEqual([
    1,
    {
      table: 't',
      rules: 2,
      unknown: [],
      not_compared: [
        { rule: 'b', pointer: '/rules/1/calls/0/tool', name: 'bank.pay' },
        { rule: 'b', pointer: '/rules/1/calls/1/tool', name: 'bank.pyout' },
      ],
    },
  ]);
});

test('with tools only the unknown tool is named', async () => {
  expect(await check('--tools', 'tools.ts')).toEqual({
    code: 1,
    out: 'unknown tool bank.pyout of rule b (/rules/1/calls/1/tool): no tool has it\n',
    err: '',
  });
  const { out } = await check('--tools', 'tools.ts', '--json');
  expect(JSON.parse(out)).toMatchObject({ unknown: [{ name: 'bank.pyout' }], not_compared: [] });
});

test('policy check lists the rules without override', async () => {
  const { out } = await check('--tools', 'tools.ts', '--domain', 'shop.ts');
  expect(out).toMatch(
    /^shop: no approval overrides a rejection by HARD, ASKS; declare overridable where one may$/m,
  );
  expect(
    JSON.parse((await check('--tools', 'tools.ts', '--domain', 'shop.ts', '--json')).out),
  ).toMatchObject({
    not_overridable: [{ domain: 'shop', rules: ['HARD', 'ASKS'] }],
  });
});
