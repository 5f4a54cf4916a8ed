/** The entries that derive from a bad approval, definition or rules file of the gateway. */

import { blastRadius, type IncidentStart } from '@assize/audit/internal/blast';
import type { Hash } from 'assize/internal/ledger';
import type { Ruling } from 'assize/internal/runtime';
import { expect, test } from 'vitest';
import { type Desk, desk } from '../../../../tests/support/domains/gateway/desk.ts';

const RULES = `
id: b
default: allow
tools:
  bank/pay: { class: irreversible, amounts: { euros: /euros } }
  sh/run: { class: irreversible }
rules:
  - { id: pay, ask: bank/pay }
standing: { uses: 10, hours: 24, amounts: { euros: 500 } }
`;

async function openDesk(): Promise<{
  at: Desk;
  found: (start: IncidentStart) => Promise<string[]>;
}> {
  const at = await desk(RULES);
  at.clock.at = '2026-06-01T09:00:00.000000Z';
  const found = async (start: IncidentStart): Promise<string[]> => {
    const { entries } = await blastRadius(at.store, start);
    return entries.map(({ seq, action, from }) =>
      [seq, action, ...from.map(({ how }) => how)].join(' '),
    );
  };
  return { at, found };
}

const idOf = (ruling: Ruling): Hash => {
  if (ruling.ruling === 'frozen') throw new Error(ruling.ruling);
  return ruling.entry.id;
};

test('a call derives from the standing approval that let it through', async () => {
  const { at, found } = await openDesk();
  const stand = {
    id: 'a',
    agent: 'ada',
    tools: ['bank/pay'],
    uses: 5,
    amounts: { euros: 500 },
    because: 'x',
  };
  const allowed = await at.approve(
    await at.act('stand', { ...stand, expires: '2026-06-02T08:00:00Z' }, 'ada'),
    'human:mallory',
  );
  const other = await at.call('ben', 'sh/run');
  const covered = await at.call('ada', 'bank/pay', { euros: 100 });
  for (const start of [{ approver: 'human:mallory' }, { entry: idOf(allowed) }]) {
    const names = await found(start);
    expect(names.some((name) => /call permission/.test(name))).toBe(true);
    const { entries } = await blastRadius(at.store, start);
    expect(entries.map(({ id }) => id)).toContain(idOf(covered));
    expect(entries.map(({ id }) => id)).not.toContain(idOf(other));
  }
});

test('a call derives from the rules and the definition by which it was judged', async () => {
  const { at, found } = await openDesk();
  const before = await at.call('ada', 'sh/run');
  const pinned = await at.act('pin', { server: 'sh', tool: 'run', definition: { n: 1 } });
  const hash = at.state().pins['sh/run']!.hash;
  const call = await at.call('ada', 'sh/run', { n: 1 });
  const shown = await at.call('ada', 'sh/run', { n: 2 }, { definition: hash });
  const inParts = await at.call(
    'ada',
    'sh/other',
    { n: 3 },
    { parts: [{ server: 'sh', tool: 'run', args: {} }] },
  );
  const calls = [call, shown, inParts].map(idOf);
  for (const start of [{ entry: idOf(pinned) }, { definition: hash }]) {
    const { entries } = await blastRadius(at.store, start);
    expect(entries.map(({ id }) => id)).toEqual([idOf(pinned), ...calls]);
    expect(await found(start)).toHaveLength(4);
  }
  const { entries: ofTool } = await blastRadius(at.store, { tool: 'sh/run' }, { through: [] });
  expect(ofTool.map(({ id }) => id)).toEqual([before, call, shown, inParts].map(idOf));
  const configured = await at.configure(RULES.replace('id: b', 'id: c'));
  const after = await at.call('ben', 'sh/run');
  expect(await found({ entry: idOf(configured) })).toEqual([
    expect.stringContaining('configure'),
    expect.stringContaining('call permission'),
  ]);
  const { entries } = await blastRadius(at.store, { entry: idOf(configured) });
  expect(entries[1]?.id).toBe(idOf(after));
});
