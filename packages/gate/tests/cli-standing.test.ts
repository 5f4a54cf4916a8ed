/** `assize standing`: asks for a standing approval, lists it with its uses, and ends it. */
import { expect, test } from 'vitest';
import { openShop, type Shop } from '../../../tests/support/gated-shop.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const RULES = `
id: shop
tools: { shop/pay: { class: irreversible, amounts: { cents: /cents } } }
rules: [{ id: large, ask: shop/pay }]
standing: { uses: 5, hours: 24, amounts: { cents: 1000 } }
`;
const TERMS = [
  '--agent',
  'ada',
  '--tools',
  'shop/pay',
  '--uses',
  '2',
  '--amount',
  'cents=500',
  '--until',
  '2h',
];
const GRANT = [
  'standing',
  'grant',
  'calls',
  ...TERMS,
  '--because',
  'the invoices of May',
  '--id',
  'may',
];

interface Desk extends Shop {
  assize(...args: string[]): Promise<Ended>;
  json(...args: string[]): Promise<any>;
  pay(id: string, cents: number): Promise<any>;
}

async function open(): Promise<Desk> {
  const shop = await openShop({ rules: RULES, timeoutMs: 1 });
  const assize = (...args: string[]) => runCommand(shop.folder, shop.store, ...args);
  return {
    ...{ ...shop, assize },
    json: async (...args) => JSON.parse((await assize(...args, '--json')).out),
    pay: (id, cents) =>
      shop.gate.run(
        { run: 'r', id, tool: 'pay', args: { to: 'bob\u202e', cents } },
        async () => 'paid',
      ),
  };
}

test('an agent asks, a person approves, and each use is listed until the end', async () => {
  const { assize, json, pay } = await open();
  expect(await assize('standing')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^There is no standing approval/),
  });
  expect(await pay('c1', 10)).toMatchObject({ end: 'pending' });
  const asked = await assize(...GRANT);
  expect(asked.code).toBe(1);
  const [, pending = ''] =
    /counts when a counselor approves it: assize approve (\w+) --as PRINCIPAL/.exec(asked.out) ??
    [];
  const listed = await json('standing');
  expect(listed).toEqual({
    standing: [],
    waiting: [
      { trajectory_id: 'calls', entry_id: expect.stringMatching(/^[0-9a-f]{64}$/), id: 'may' },
    ],
  });
  expect(listed.waiting[0].entry_id.startsWith(pending)).toBe(true);
  const waits = await assize('standing');
  expect(waits.out).toMatch(
    /^may in calls: waits for its approval as \w{12}\. See: assize pending\n$/,
  );
  const approved = await assize('approve', pending, '--as', 'manager:grace', '--reason', 'checked');
  expect(approved.code).toBe(0);
  expect(await pay('c2', 300)).toMatchObject({ end: 'done' });
  expect(await pay('c3', 201)).toMatchObject({ end: 'pending' });

  const { standing } = await json('standing', 'calls');
  expect(standing).toMatchObject([
    {
      ...{ trajectory_id: 'calls', id: 'may', status: 'active', used: 1, spent: { cents: 300 } },
      terms: {
        agent: 'ada',
        tools: ['shop/pay'],
        uses: 2,
        amounts: { cents: 500 },
        because: 'the invoices of May',
      },
      ...{ asked_by: 'agent:ada', approved_by: 'manager:grace', approval_reason: 'checked' },
      calls: [
        { call: 'r.c2', tool: 'shop/pay', args: { to: 'bob\u202e', cents: 300 }, outcome: 'done' },
      ],
    },
  ]);
  const { out } = await assize('standing');
  expect(out).toMatch(
    /^may in calls: active\n {2}shop\/pay by ada, until .*: the invoices of May\n/,
  );
  expect(out).toContain('  1 of 2 uses, 300 of 500 cents\n');
  expect(out).toMatch(/^r\.c2 +shop\/pay +.* done +\{.*bob\\u202e.*\} +\w{8}$/m);

  const ended = await assize('standing', 'end', 'may', '--as', 'manager:otto');
  expect(ended.code).toBe(0);
  expect(await pay('c4', 1)).toMatchObject({ end: 'pending' });
  expect((await json('standing')).standing).toMatchObject([
    { status: 'ended', ended: { by: 'manager:otto' } },
  ]);
  expect(await json('standing', '--active')).toEqual({ standing: [], waiting: [] });
  const again = await assize('standing', 'end', 'may', '--as', 'manager:otto');
  expect(again).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^The standing approval may was ended at .* already, as \w{12}\.\n$/,
    ),
  });
  const { ended: end } = (await json('standing')).standing[0];
  const before = await json('log');
  expect(await json('standing', 'end', 'may', '--as', 'manager:otto')).toMatchObject({
    ...{ ruling: 'committed', trajectory_id: 'calls', entry_id: end.entry_id },
  });
  expect(await json('log')).toEqual(before);
  const none = await assize('standing', 'end', 'june', '--as', 'manager:otto');
  expect(none).toMatchObject({
    code: 2,
    err: expect.stringContaining('No trajectory has a standing approval june.'),
  });
});

test('a person who asks cannot approve it', async () => {
  const { assize, json } = await open();
  const { entry_id: pending, standing } = await json(...GRANT, '--as', 'manager:grace');
  expect(standing).toBe('may');
  const own = await assize('approve', pending, '--as', 'manager:grace');
  expect([own.code, own.err]).toEqual([2, expect.stringContaining('manager:grace')]);
  expect((await assize('approve', pending, '--as', 'manager:otto')).code).toBe(0);
  expect((await json('standing')).standing).toMatchObject([
    { asked_by: 'manager:grace', approved_by: 'manager:otto' },
  ]);
});

test('bad terms are refused by name, and nothing is recorded', async () => {
  const { assize, json } = await open();
  const before = await json('log');
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['--amount', 'cents=many'], /The amount cents=many is not UNIT=NUMBER/],
    [['--amount', 'cents=1'], /The amount of cents is given twice/],
    [['--until', 'later'], /an instant such as 2026-03-01T18:00:00Z, 90m, 2h, or today/],
    [['--uses', '0'], /whole number from 1/],
    [['--because', ' '], /1 to 2,000 characters/],
    [['--agent', 'agent:ada'], /Agents are named without agent: here\. Pass --agent ada\./],
    [['--as', 'nobody'], /nobody is not a counselor, and cannot ask for a standing approval/],
  ];
  for (const [more, why] of wrong) {
    const { code, err } = await assize(...GRANT, ...more);
    expect([code, err], more.join(' ')).toEqual([2, expect.stringMatching(why)]);
  }
  expect(await json('log')).toEqual(before);
  const much = await assize(...GRANT, '--uses', '6');
  expect(much).toMatchObject({
    code: 1,
    out: expect.stringContaining('6 uses are more than the 5 of the rules'),
  });
});

test('terms that let no call through are named', async () => {
  const { assize } = await open();
  const terms = ['--agent', 'ada', '--uses', '2', '--until', '2h', '--because', 'the invoices'];
  const { code, err } = await assize(
    'standing',
    'grant',
    'calls',
    ...terms,
    '--tools',
    'shop/*',
    '--tools',
    'bank/nope',
  );
  expect(code).toBe(1);
  expect(err).toContain('The rules know no tool bank/nope, and an unknown tool is never covered.');
  expect(err).toContain(
    'Calls of shop/pay spend cents. Without --amount cents=N, none of them is covered.',
  );
});

test('a store that does not exist is named as such', async () => {
  const { assize } = await open();
  for (const line of [GRANT, ['standing', 'end', 'may', '--as', 'manager:grace']]) {
    const { code, err } = await assize(...line, '--store', 'sqlite:./typo.db');
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/The store .*typo\.db does not exist\./),
    ]);
  }
});
