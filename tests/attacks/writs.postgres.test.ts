/**
 * Attacks 19 to 24 of docs/design/threats.md: authority that is made up, widened, kept, spent twice
 * or borrowed.
 */

import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import {
  attenuate,
  normalizeScope,
  parseWrit,
  type Writ,
  type WritGrant,
  writId,
} from '#authority';
import { isAssizeError } from '#base';
import { canonicalize, signText } from '#canon';
import { type EntryRow, entryRow, type LedgerStore, readRow } from '#ledger';
import { seededRandom } from '#oracle';
import {
  type AssizeOptions,
  type ProposalInput,
  type Ruling,
  type Trajectory,
  verifyStore,
} from '#runtime';
import { allEntries, deskOf, FaultyStore, payloads, soundState } from '../support/ledger/desk.ts';
import { keysOf } from '../support/ledger/rows.ts';
import { HandClock, intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { GRANT, lead, SHARE, SIBLINGS } from '../support/ledger/sibling-writs.ts';
import { onEveryStore } from '../support/ledger/stores.ts';

const desk = deskOf();
const granted = writFor(lead.publicKey, {
  trajectory: 't',
  actions: ['pay', 'add'],
  scopes: ['role:worker', 'till:small', 'fs:/fs/**', 'fs:/data/p1/**'],
  budget: { usd: GRANT },
});
const below = attenuate(granted, { subject: 'agent', nonce: 'a' }, lead.privateKey);
const chain = [granted];

const pay = (
  usd: number,
  writ: ProposalInput['writ'],
  rest: Partial<ProposalInput> = {},
): ProposalInput => intent('pay', { usd }, writ as Writ, rest);
const nameOf = (ruling: Ruling): string =>
  ruling.ruling === 'rejected' ? ruling.reason : ruling.ruling;
const codeOf = (attempt: Promise<unknown>): Promise<string> =>
  attempt.then(
    () => 'done',
    (error: unknown) => (isAssizeError(error) ? error.code : String(error)),
  );

/** The code of an error, and that nothing was written. */
async function unwritten(store: LedgerStore, attempt: () => Promise<unknown>): Promise<string> {
  const before = await store.trajectories();
  const code = await codeOf(attempt());
  expect(await store.trajectories()).toEqual(before);
  return code;
}

/** A writ that a thief of the lead's key can sign: a child with any content. */
function forged(changes: object, key = lead): Writ {
  const { signature: _s, ...body } = below;
  const made = { ...body, subject: 'mallory', nonce: 'forged', ...changes };
  return { ...made, signature: signText('writ', canonicalize(made), key.privateKey) } as Writ;
}

onEveryStore((stores) => {
  const begun = async (
    store: LedgerStore,
    options: Partial<AssizeOptions> = {},
  ): Promise<Trajectory> =>
    runtimeOver(store, [desk], options).create(desk, { trajectoryId: 't', writs: [granted] });
  const reopened = (
    store: LedgerStore,
    process = 'another',
    options: Partial<AssizeOptions> = {},
  ): Promise<Trajectory> =>
    runtimeOver(store, [desk], {
      ...options,
      ports: { random: seededRandom(process), ...options.ports },
    }).open('t');

  describe('attack 19: a wider child writ or odd path: not_attenuated, bad_resource', () => {
    test.each<[string, Partial<WritGrant>]>([
      ['another action', { actions: ['pay', 'keep'] }],
      ['all actions', { actions: ['**'] }],
      ['/fsx', { scopes: ['fs:/fsx'] }],
      ['what is beside', { scopes: ['fs:/data/p2/**'] }],
      ['what is above', { scopes: ['fs:/data/**'] }],
      ['a larger budget', { budget: { usd: GRANT + 1 } }],
      ['another unit', { budget: { eur: 0 } }],
      ['another trajectory', { trajectory: 'u' }],
      ['a later end', { expires: '2028-01-01T00:00:00.000000Z' }],
    ])('%s', async (_what, changes) => {
      const wider = { subject: 'mallory', nonce: 'n', ...changes };
      expect(() => attenuate(granted, wider, lead.privateKey)).toThrow(
        expect.objectContaining({ code: 'not_attenuated' }),
      );
      const store = await stores.newPlace().open();
      const trajectory = await begun(store);
      const held = { writ: forged(changes), chain };
      const error = await trajectory.propose(pay(1, held)).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: 'bad_writ', evidence: { code: 'not_attenuated' } });
      expect(await allEntries(store, 't')).toHaveLength(1);
    });

    test.each([
      'fs:/data/p1/../p2',
      'fs:/data/p1/%2e%2e/p2',
      'fs:/data//p1',
      'fs:/data/./p1',
      'fs:/data\\p1',
      'fs:/data/p*',
    ])('%s', async (scope) => {
      expect(() => normalizeScope(scope)).toThrow(
        expect.objectContaining({ code: 'bad_argument', name: 'AuthorityError' }),
      );
      const child = { subject: 'mallory', nonce: 'n', scopes: [scope] };
      expect(() => attenuate(granted, child, lead.privateKey)).toThrow(
        expect.objectContaining({ code: 'bad_writ' }),
      );
      const store = await stores.newPlace().open();
      const trajectory = await begun(store);
      const held = { writ: forged({ scopes: [scope] }), chain };
      expect(await unwritten(store, () => trajectory.propose(pay(1, held)))).toBe('bad_writ');
    });
  });

  describe('attack 20: odd fields of a writ: refused; a missing list grants nothing', () => {
    test.each<[string, object]>([
      ['an unknown member', { caveat: 'only on Mondays' }],
      ['an unknown version', { v: 2 }],
      ['no version', { v: undefined }],
      ['no subject', { subject: null }],
      ['an empty subject', { subject: '' }],
      ['no end', { expires: undefined }],
      ['no depth', { max_depth: null }],
    ])('%s', async (_what, changes) => {
      const { signature: _s, ...body } = below;
      const made = Object.fromEntries(
        Object.entries({ ...body, ...changes }).filter(([, value]) => value !== undefined),
      );
      const writ = {
        ...made,
        signature: signText('writ', canonicalize(made), lead.privateKey),
      } as never;
      expect(() => parseWrit(writ)).toThrow(expect.objectContaining({ code: 'bad_writ' }));
      const store = await stores.newPlace().open();
      const trajectory = await begun(store);
      for (const held of [writ, { writ, chain }, { writ: below, chain: [writ] }])
        expect(await unwritten(store, () => trajectory.propose(pay(1, held)))).toBe('bad_writ');
      expect(
        await unwritten(store, () => runtimeOver(store, [desk]).create(desk, { writs: [writ] })),
      ).toBe('bad_writ');
    });

    test.each(['actions', 'scopes', 'budget'] as const)('without %s', async (name) => {
      const { signature: _s, [name]: _list, ...made } = { ...below, subject: 'mallory' };
      const writ = {
        ...made,
        signature: signText('writ', canonicalize(made), lead.privateKey),
      } as Writ;
      const store = await stores.newPlace().open();
      const trajectory = await begun(store);
      const ruling = await trajectory.propose(pay(1, { writ, chain }));
      expect(nameOf(ruling)).toBe(name === 'budget' ? 'budget_exhausted' : 'invalid_authority');
    });
  });

  describe('attack 21: a writ expired or revoked between check and commit: rejection', () => {
    /** Something happens after the proposal was judged and before it is written. */
    async function raced(
      store: LedgerStore,
      clock: HandClock,
      meanwhile: () => Promise<unknown>,
    ): Promise<Ruling> {
      const slow = new FaultyStore(store);
      const trajectory = await reopened(slow, 'slow', { ports: { clock } });
      let isFirst = true;
      slow.before = async () => {
        if (!isFirst) return;
        isFirst = false;
        await meanwhile();
      };
      const ruling = await trajectory.propose(pay(1, { writ: below, chain }));
      expect(isFirst).toBe(false);
      return ruling;
    }

    test('revoked, itself or above', async () => {
      for (const writ of [below, granted]) {
        const place = stores.newPlace();
        const store = await place.open();
        const quick = await begun(store);
        const officer = writFor('officer', { actions: ['assize.revoke'], scopes: ['writ:**'] });
        const by = {
          writ: { writ, chain: writ === below ? chain : [] },
          reason: 'stolen',
          by: officer,
        };
        const ruling = await raced(await place.open(), new HandClock(), () =>
          quick.writs.revoke(by),
        );
        expect(ruling).toMatchObject({
          reason: 'invalid_authority',
          detail: `Writ ${writId(writ)} was revoked.`,
        });
        expect((await payloads(store, 't')).map(({ kind }) => kind)).toEqual([
          'root',
          'commit',
          'rejection',
        ]);
        await soundState(store, 't');
      }
    });

    test('expired', async () => {
      const place = stores.newPlace();
      const store = await place.open();
      const clock = new HandClock();
      const quick = await begun(store, { ports: { clock } });
      const lasting = writFor('lasting', { expires: '2030-01-01T00:00:00.000000Z' });
      const ruling = await raced(await place.open(), clock, async () => {
        clock.at = granted.expires;
        await quick.propose(intent('add', { by: 1 }, lasting));
      });
      expect(ruling).toMatchObject({
        reason: 'invalid_authority',
        detail: expect.stringContaining('expired'),
      });
      expect((await payloads(store, 't')).map(({ kind }) => kind)).toEqual([
        'root',
        'commit',
        'rejection',
      ]);
      await soundState(store, 't');
    });
  });

  describe('attack 22: 50 siblings each take 60 % of a budget together: one succeeds', () => {
    /** Opens `count` runtimes over one place. All hold the same head. */
    async function runtimes(count: number): Promise<{ store: LedgerStore; open: Trajectory[] }> {
      const place = stores.newPlace();
      const store = await place.open();
      await begun(store);
      const names = Array.from({ length: count }, (_, n) => `process ${n}`);
      return {
        store,
        open: await Promise.all(names.map(async (name) => reopened(await place.open(), name))),
      };
    }

    test.each([1, 4])('to spend, in %i runtimes', async (count) => {
      const { store, open } = await runtimes(count);
      const siblings = Array.from({ length: SIBLINGS }, (_, n) =>
        attenuate(
          granted,
          { subject: `sibling ${n}`, nonce: `${n}`, budget: { usd: SHARE } },
          lead.privateKey,
        ),
      );
      const answers = await Promise.all(
        siblings.map((writ, n) =>
          (open[n % count] as Trajectory).propose(pay(SHARE, { writ, chain })).then(nameOf),
        ),
      );
      expect(answers.filter((answer) => answer === 'committed')).toHaveLength(1);
      expect(answers.filter((answer) => answer === 'budget_exhausted')).toHaveLength(SIBLINGS - 1);
      await soundState(store, 't');
    });

    test.each([1, 4])('to delegate, in %i runtimes', async (count) => {
      const { store, open } = await runtimes(count);
      const answers = await Promise.all(
        Array.from({ length: SIBLINGS }, (_, n) => {
          const more = {
            subject: `sibling ${n}`,
            childTrajectoryId: `c${n}`,
            budget: { usd: SHARE },
          };
          const delegated = (open[n % count] as Trajectory).delegations.delegate({
            task: 'count',
            writ: granted,
            privateKey: lead.privateKey,
            ...more,
          });
          return codeOf(delegated);
        }),
      );
      expect(answers.filter((answer) => answer === 'done')).toHaveLength(1);
      expect(answers.filter((answer) => answer === 'budget_exhausted')).toHaveLength(SIBLINGS - 1);
      expect((await store.trajectories()).map(({ entries }) => entries).toSorted()).toEqual([1, 2]);
      await soundState(store, 't');
    });
  });

  describe('attack 23: a writ of another principal or trajectory: invalid_authority', () => {
    test('by another principal, under any authenticated name', async () => {
      const store = await stores.newPlace().open();
      const trajectory = await begun(store);
      for (const principal of ['mallory', lead.publicKey, 'agent ', 'AGENT', '']) {
        const ruling = await trajectory.propose(pay(1, { writ: below, chain }, { principal }));
        expect(ruling).toMatchObject({ reason: 'invalid_authority', entry: { kind: 'rejection' } });
      }
      expect(
        nameOf(await trajectory.propose(pay(1, { writ: below, chain }, { principal: 'agent' }))),
      ).toBe('committed');
      await soundState(store, 't');
    });

    test('in another trajectory, of this store or of another tenant’s', async () => {
      const there = await stores.newPlace().open();
      const other = await runtimeOver(there, [desk]).create(desk, { trajectoryId: 'u' });
      for (const held of [{ writ: below, chain }, granted])
        expect(await other.propose(pay(1, held))).toMatchObject({
          reason: 'invalid_authority',
          detail: expect.stringContaining('for trajectory t'),
        });
      // Under other anchors, the writ has no trusted issuer.
      const tenant = runtimeOver(await stores.newPlace().open(), [desk], {
        anchors: [keysOf(99).publicKey],
      });
      const theirs = await tenant.create(desk, { trajectoryId: 't' });
      expect(await codeOf(theirs.propose(pay(1, { writ: below, chain })))).toBe('bad_writ');
    });

    test('a delegated writ, in the delegating trajectory and in a sibling', async () => {
      const store = await stores.newPlace().open();
      const trajectory = await begun(store);
      const more = {
        subject: 'agent',
        childTrajectoryId: 'c',
        budget: { usd: 10 },
        privateKey: lead.privateKey,
      };
      const child = await trajectory.delegations.delegate({
        task: 'count',
        writ: granted,
        ...more,
      });
      const writ = child.delegations.origin?.writ as Writ;
      const beside = await runtimeOver(store, [desk]).create(desk, { trajectoryId: 'd' });
      for (const open of [trajectory, beside])
        expect(await unwritten(store, () => open.propose(pay(1, { writ, chain })))).toBe(
          'bad_writ',
        );
      expect(nameOf(await child.propose(pay(1, writ)))).toBe('committed');
      await soundState(store, 't');
    });
  });

  describe('attack 24: low-order key, large S, zero or reused signature: refused', () => {
    const L = 2n ** 252n + 27742317777372353535851937790883648493n;
    const LOW_ORDER = [
      '0'.repeat(64),
      `01${'0'.repeat(62)}`,
      `ec${'f'.repeat(60)}7f`,
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    ];
    const littleEndian = (hex: string): bigint =>
      BigInt(`0x${Buffer.from(hex, 'hex').reverse().toString('hex') || '0'}`);
    const encoded = (value: bigint): string =>
      Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse().toString('hex');

    test('as anchors', async () => {
      const store = await stores.newPlace().open();
      for (const key of LOW_ORDER)
        expect(() => runtimeOver(store, [desk], { anchors: [key] })).toThrow(
          expect.objectContaining({
            code: 'bad_key',
            message: expect.stringContaining('The public key has a low order,'),
          }),
        );
    });

    test('under a writ', async () => {
      const store = await stores.newPlace().open();
      const trajectory = await begun(store);
      const { signature, ...body } = below;
      const [r, s] = [signature.slice(0, 64), signature.slice(64)];
      const signatures = [
        '0'.repeat(128),
        r + encoded(littleEndian(s) + L),
        ...LOW_ORDER.map((point) => point + s),
        ...LOW_ORDER.map((point) => point + '0'.repeat(64)),
        ...(['entry', 'checkpoint', 'approval'] as const).map((use) =>
          signText(use, canonicalize(body), lead.privateKey),
        ),
      ];
      for (const changed of signatures) {
        const held = { writ: { ...below, signature: changed }, chain };
        const error = await trajectory.propose(pay(1, held)).catch((caught: unknown) => caught);
        expect(error).toMatchObject({ code: 'bad_writ', evidence: { code: 'bad_signature' } });
      }
      // A writ with an issuer of low order: any party can sign for it.
      for (const issuer of LOW_ORDER) {
        const above = forged({ subject: issuer });
        const held = {
          writ: {
            ...below,
            issuer,
            parent: writId(above),
            max_depth: 0,
            signature: '0'.repeat(128),
          },
          chain: [above, granted],
        };
        expect(await unwritten(store, () => trajectory.propose(pay(1, held)))).toBe('bad_writ');
      }
      expect(await allEntries(store, 't')).toHaveLength(1);
    });

    test('under an entry: that of a writ, and that of another entry', async () => {
      const memory = new MemoryStore();
      const signer = keysOf(31);
      const trajectory = await begun(memory, { signer });
      await trajectory.propose(pay(1, granted));
      const [root, commit] = (await allEntries(memory, 't')) as [EntryRow, EntryRow];
      const { signature, ...payload } = readRow(commit).payload;
      const values = [
        signText('writ', canonicalize(payload), signer.privateKey),
        signText('approval', canonicalize(payload), signer.privateKey),
        readRow(root).payload.signature?.value,
        granted.signature,
      ];
      for (const value of values) {
        const store = await stores.newPlace().open();
        const row = entryRow(
          { ...payload, signature: { key: signature?.key, value } } as never,
          undefined,
        );
        await store.commit({ entries: [root, row], blobs: [] });
        expect(await verifyStore(store)).toMatchObject([
          { valid: false, fault: { seq: 1, code: 'bad_signature' } },
        ]);
      }
    });
  });
});
