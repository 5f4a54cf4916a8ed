import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { call, defineDomain, escalate, pass, reject } from '#kernel';
import type { CommitPayload } from '#ledger';
import { readRow } from '#ledger';
import type { Ruling } from '#runtime';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';

// Texts that domain code, a tool call, a counselor or a migration makes from composed parts
// (docs/decisions/022-equal-texts.md).
const COMPOSED = 'jos\u00e9';
const [FIRST, MARK] = ['jose', '\u0301'];
const SPLIT = FIRST + MARK;

const writ = writFor('agent');

function setUp(texts?: 'exact') {
  const sent: string[] = [];
  const mail = declareTool({
    name: 'mail.send',
    input: z.strictObject({ to: z.string() }),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['mail:out'],
    execute: ({ to }) => {
      sent.push(to);
      return null;
    },
  });
  const find = declareTool({
    name: 'mail.find',
    input: z.strictObject({ name: z.string() }),
    class: 'read',
    reads: ['mail:in'],
    execute: ({ name }) => {
      sent.push(`find ${name}`);
      return null;
    },
  });
  const parts = z.strictObject({ a: z.string(), b: z.string() });
  const domain = defineDomain({
    name: 'mails',
    version: '1',
    state: z.object({ people: z.record(z.string(), z.object({ name: z.string() })) }),
    initial: { people: { [COMPOSED]: { name: 'Jos\u00e9' } } },
    processes: { own: { writes: ['/people/*'] } },
    roles: { clerk: { processes: ['own'] } },
    counselors: { boss: (principal) => principal === 'boss' },
    freeze: 'world',
    actions: {
      send: {
        process: 'own',
        args: parts,
        apply: () => {},
        calls: (_state, { a, b }) => [call(mail, { to: a + b })],
      },
      note: { process: 'own', args: z.strictObject({}), apply: () => {} },
      add: {
        process: 'own',
        args: parts,
        apply: (state, { a, b }) => {
          state.people[a + b] = { name: `${a}${b}` };
        },
      },
      rename: {
        process: 'own',
        args: parts,
        apply: (state, { a, b }) => {
          const person = state.people[a + b];
          if (person === undefined || !(a + b in state.people)) throw new Error('unknown');
          person.name = `${a}${b}!`;
        },
      },
      drop: {
        process: 'own',
        args: parts,
        apply: (state, { a, b }) => {
          delete state.people[a + b];
        },
      },
      ask: {
        process: 'own',
        args: z.strictObject({}),
        apply: (state) => {
          state.people['ask'] = { name: 'ask' };
        },
      },
    },
    invariants: ({ eachCall, each, unique }) => [
      eachCall('BLOCK', 'mail.send', {}, ({ input }) =>
        input.to === COMPOSED ? reject('blocked') : pass,
      ),
      unique('ONE_NAME', '/people/*', { by: ({ name }) => name }),
      each('ASK', '/people/*', { channel: 'boss' }, ({ name }) =>
        name === 'ask' ? escalate('ask') : pass,
      ),
    ],
    ...(texts && { texts }),
  });
  return { sent, mail, find, domain };
}

async function opened(texts?: 'exact') {
  const { sent, mail, find, domain } = setUp(texts);
  const store = new MemoryStore();
  const assize = runtimeOver(store, [domain], { tools: [mail, find] });
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
  const does = (action: string, args: object): Promise<Ruling> =>
    trajectory.propose({ action, role: 'clerk', args, writ } as never);
  return { sent, mail, find, domain, store, assize, trajectory, does };
}

const people = (trajectory: { state(): unknown }) =>
  (trajectory.state() as { people: Record<string, unknown> }).people;

describe('a tool call', () => {
  test('that the action makes from two parts is judged as the composed text', async () => {
    const { sent, does } = await opened();
    expect(await does('send', { a: FIRST, b: MARK })).toMatchObject({
      ruling: 'rejected',
      invariantId: 'BLOCK',
    });
    expect((await does('send', { a: 'zoe', b: MARK })).ruling).toBe('committed');
    expect(sent).toEqual(['zo\u00e9']);
  });

  test('of a transaction body is judged, recorded and made in composed form', async () => {
    const { sent, trajectory, domain, store } = await opened();
    const send = (to: string) =>
      trajectory.transaction({ writ, writes: ['mail:*'], reads: ['mail:*'] }, async (tx) => {
        await tx.call('mail.find', { name: to });
        await tx.call('mail.send', { to });
        tx.propose({ action: 'note', role: 'clerk', args: {} });
      });
    expect((await send(SPLIT)).ruling).toMatchObject({ ruling: 'rejected', invariantId: 'BLOCK' });
    expect((await send(`zoe${MARK}`)).ruling.ruling).toBe('committed');
    // A read asks in the caller's form.
    expect(sent).toEqual([`find ${SPLIT}`, `find zoe${MARK}`, 'zo\u00e9']);
    expect((await deepReplay(store, 't', { domains: [domain] })).differences).toEqual([]);
  });

  test('keeps its form in a domain with exact texts', async () => {
    const { sent, does } = await opened('exact');
    expect((await does('send', { a: FIRST, b: MARK })).ruling).toBe('committed');
    expect(sent).toEqual([SPLIT]);
  });
});

describe('the state', () => {
  test('has one key and one text for both forms, also to `apply`', async () => {
    const { does, trajectory, domain, store } = await opened();
    expect((await does('rename', { a: FIRST, b: MARK })).ruling).toBe('committed');
    expect(people(trajectory)).toEqual({ [COMPOSED]: { name: `${COMPOSED}!` } });
    expect((await does('add', { a: FIRST, b: MARK })).ruling).toBe('committed');
    expect(people(trajectory)).toEqual({ [COMPOSED]: { name: COMPOSED } });
    expect((await does('drop', { a: FIRST, b: MARK })).ruling).toBe('committed');
    expect(people(trajectory)).toEqual({});
    const [, , row] = await store.entries('t');
    expect((readRow(row!).payload as CommitPayload).delta.state).toEqual([
      { op: 'replace', path: `/people/${COMPOSED}/name`, value: COMPOSED },
    ]);
    expect((await deepReplay(store, 't', { domains: [domain] })).differences).toEqual([]);
  });

  test('gets a replacement by a counselor in composed form', async () => {
    const { does, trajectory } = await opened();
    const ruling = await does('ask', {});
    if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
    await trajectory.approvals.approve(ruling.pending, {
      principal: 'boss',
      method: 'test',
      replacement: [{ op: 'add', path: `/people/${SPLIT}`, value: { name: SPLIT } }],
    });
    expect(people(trajectory)).toEqual({ [COMPOSED]: { name: COMPOSED } });
  });

  test('gets a migration in composed form', async () => {
    const { domain, store, mail, find } = await opened();
    const next = defineDomain({ ...domain.declared, version: '2' } as never) as typeof domain;
    const trajectory = await runtimeOver(store, [domain, next], { tools: [mail, find] }).open('t');
    const upgraded = await trajectory.upgrade(next, {
      writ,
      reason: 'test',
      migrate: (state: any) => {
        state.people[SPLIT] = { name: SPLIT };
      },
    });
    expect(upgraded.patches).toEqual([
      { op: 'replace', path: `/people/${COMPOSED}/name`, value: COMPOSED },
    ]);
  });

  test('of an earlier version with exact texts stays within reach', async () => {
    const { domain, store, mail, find, does } = await opened('exact');
    await does('drop', { a: COMPOSED, b: '' });
    await does('add', { a: FIRST, b: MARK });
    const { texts: _, ...declared } = domain.declared as any;
    const next = defineDomain({ ...declared, version: '2' }) as typeof domain;
    const trajectory = await runtimeOver(store, [domain, next], { tools: [mail, find] }).open('t');
    await trajectory.upgrade(next, { writ, reason: 'test' });
    const upgraded = await runtimeOver(store, [next], { tools: [mail, find] }).open('t');
    const again = (action: string) =>
      upgraded.propose({ action, role: 'clerk', args: { a: FIRST, b: MARK }, writ } as never);
    expect((await again('rename')).ruling).toBe('committed');
    expect(people(upgraded)).toEqual({ [SPLIT]: { name: `${COMPOSED}!` } });
    expect((await again('drop')).ruling).toBe('committed');
    expect(people(upgraded)).toEqual({});
  });

  test('keeps both forms in a domain with exact texts', async () => {
    const { does, trajectory } = await opened('exact');
    await does('add', { a: FIRST, b: MARK });
    expect(Object.keys(people(trajectory)).sort()).toEqual([SPLIT, COMPOSED].sort());
  });
});
