/**
 * Attack 26 of docs/design/threats.md: approvals that are not given, not for this proposal, or
 * reused.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { attenuate, issueWrit } from '#authority';
import type { Domain } from '#kernel';
import { type LedgerStore, readRow } from '#ledger';
import { seededRandom } from '#oracle';
import { type Ruling, rulingOf, type Trajectory } from '#runtime';
import { writeAnchors } from '../../packages/command/src/store/anchors.ts';
import { allEntries, deskOf, soundState } from '../support/ledger/desk.ts';
import { codeOf, doctor, pendingOf, severalOf } from '../support/ledger/multi-approval.ts';
import { keysOf } from '../support/ledger/rows.ts';
import {
  HandClock,
  intent,
  operator,
  runtimeOver,
  START,
  writFor,
} from '../support/ledger/runtime.ts';
import { onEveryDatabase, onEveryStore } from '../support/ledger/stores.ts';
import { runProcess } from '../support/process/command.ts';

const MINUTE = 60_000;
const worker = writFor('agent');
const one = deskOf();
const two = severalOf(2);

async function begun(
  store: LedgerStore,
  domain: Domain,
  clock = new HandClock(),
): Promise<Trajectory> {
  const assize = runtimeOver(store, [domain], {
    ports: { clock },
    approvals: { timeoutMs: 10 * MINUTE },
  });
  return assize.create(domain, { trajectoryId: 't', writs: [worker] });
}

/** Opens the trajectory as another process does, with its own randomness and clock. */
const opened = (
  store: LedgerStore,
  domain: Domain,
  name: string,
  clock = new HandClock(),
): Promise<Trajectory> =>
  runtimeOver(store, [domain], { ports: { clock, random: seededRandom(name) } }).open('t');

const ask = (trajectory: Trajectory, rest = {}): Promise<string> =>
  pendingOf(trajectory.propose(intent('ask', { amount: 5 }, worker, rest)));

const decisions = async (store: LedgerStore): Promise<string[]> =>
  (await allEntries(store, 't')).slice(2).map((row) => rulingOf(row).ruling);

describe('attack 26: self, double, late, altered or racing approval: one at most', () => {
  onEveryStore((stores) => {
    test('by the requester: in its name, by a child writ, in another name form', async () => {
      const store = await stores.newPlace().open();
      const keys = keysOf(41);
      const name = 'dr-Zo\u00eb';
      const own = issueWrit({ ...writGrant, subject: name, nonce: 'own' }, operator.privateKey);
      const held = issueWrit(
        { ...writGrant, subject: keys.publicKey, nonce: 'held' },
        operator.privateKey,
      );
      const child = attenuate(held, { subject: 'dr-child', nonce: 'child' }, keys.privateKey);
      const assize = runtimeOver(store, [two]);
      const trajectory = await assize.create(two, { trajectoryId: 't', writs: [own, held, child] });
      for (const [writ, asker] of [
        [own, name],
        [own, 'dr-Zoe\u0308'],
        [child, 'dr-child'],
        [child, keys.publicKey],
      ] as const) {
        const first = await pendingOf(trajectory.propose(intent('ask', { amount: 1 }, writ)));
        const approve = (id: string) => () =>
          trajectory.approvals.approve(id, { principal: asker, method: 'test' });
        expect(await codeOf(trajectory, approve(first))).toBe('unauthorised_counselor');
        const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
        expect(await codeOf(trajectory, approve(second))).toBe('unauthorised_counselor');
        await trajectory.approvals.reject(second, doctor('a', { reason: 'no' }) as never);
      }
    });

    test('twice: by the same person where it takes two; again when it is done', async () => {
      const store = await stores.newPlace().open();
      const trajectory = await begun(store, two);
      const first = await ask(trajectory);
      const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
      for (const id of [first, second])
        expect(
          await codeOf(trajectory, () => trajectory.approvals.approve(id, doctor('a'))),
        ).toMatch(/not_pending|already_approved/);
      await trajectory.approvals.approve(second, doctor('b'));
      for (const id of [first, second])
        for (const who of ['a', 'b', 'c'])
          expect(
            await codeOf(trajectory, () => trajectory.approvals.approve(id, doctor(who))),
          ).toBe('not_pending');
      expect(await decisions(store)).toEqual(['escalated', 'committed']);
      expect(JSON.parse(await soundState(store, 't'))).toMatchObject({ asked: 5 });
    });

    test('after expiry: permanently rejected instead, even if the clock moves back', async () => {
      const store = await stores.newPlace().open();
      const clock = new HandClock();
      const trajectory = await begun(store, two, clock);
      const second = await pendingOf(
        trajectory.approvals.approve(await ask(trajectory), doctor('a')),
      );
      clock.forward(10 * MINUTE);
      expect(await trajectory.approvals.approve(second, doctor('b'))).toMatchObject({
        ruling: 'rejected',
        reason: 'expired',
      });
      clock.at = START;
      const late = await opened(store, two, 'late').catch((error: { code: string }) => error.code);
      if (typeof late !== 'string')
        expect(await late.approvals.approve(second, doctor('b')).catch(({ code }) => code)).toBe(
          'not_pending',
        );
      expect(await decisions(store)).toEqual(['escalated', 'rejected']);
      expect(JSON.parse(await soundState(store, 't'))).toMatchObject({ asked: 0 });
    });

    test('after the arguments changed: the shown values are hashed, stored and run', async () => {
      const place = stores.newPlace();
      const store = await place.open();
      const trajectory = await begun(store, one);
      const id = await ask(trajectory);
      const [open] = trajectory.approvals.pending();
      // In the displayed proposal: it is frozen.
      const { args } = (open as never as any).payload.proposal.action;
      expect(() => Object.assign(args, { amount: 500 })).toThrow(TypeError);
      expect(await trajectory.approvals.statusOf(id)).toMatchObject({
        payload: { proposal: { action: { args: { amount: 5 } } } },
      });
      // In another proposal, with the digest of this one.
      const shown = open?.payload.digest as string;
      await trajectory.approvals.reject(id, doctor('a', { reason: 'no' }) as never);
      const other = await pendingOf(trajectory.propose(intent('ask', { amount: 50 }, worker)));
      expect(
        await codeOf(trajectory, () =>
          trajectory.approvals.approve(other, doctor('a', { digest: shown })),
        ),
      ).toBe('digest_mismatch');
      await trajectory.approvals.approve(other, doctor('a'));
      expect(JSON.parse(await soundState(store, 't'))).toMatchObject({ asked: 50 });
    });

    test('by two concurrently, in two processes: one decision in any combination', async () => {
      for (const ways of [
        ['approve', 'approve'],
        ['approve', 'reject'],
        ['reject', 'reject'],
      ] as const) {
        const place = stores.newPlace();
        const store = await place.open();
        const id = await ask(await begun(store, one));
        const both = await Promise.all(
          ways.map(async (way, n) => ({
            way,
            who: `${n}`,
            at: await opened(await place.open(), one, `process ${n}`),
          })),
        );
        const answers = await Promise.allSettled(
          both.map(
            ({ way, who, at }): Promise<Ruling> =>
              at.approvals[way](id, doctor(who, { reason: 'r' }) as never),
          ),
        );
        expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
        expect(answers.find(({ status }) => status === 'rejected')).toMatchObject({
          reason: { code: 'not_pending' },
        });
        expect(await decisions(store)).toHaveLength(1);
        await soundState(store, 't');
      }
    });

    test('of five who approve together, three count, each once', async () => {
      const place = stores.newPlace();
      const store = await place.open();
      const three = severalOf(3);
      const first = await ask(await begun(store, three));
      const people = ['a', 'b', 'c', 'd', 'e'];
      const processes = await Promise.all(
        people.map(async (who) => opened(await place.open(), three, who)),
      );
      const approved: string[] = [];
      await Promise.all(
        processes.map(async (trajectory, n) => {
          for (;;) {
            const now = await trajectory.approvals.statusOf(first);
            if (now.status !== 'pending') return;
            const answer = await trajectory.approvals
              .approve(now.id, doctor(people[n] as string))
              .catch((error) => error);
            if (answer.code === 'not_pending' || answer.code === 'conflict') continue;
            expect(answer).not.toBeInstanceOf(Error);
            approved.push(people[n] as string);
            return;
          }
        }),
      );
      expect(approved).toHaveLength(3);
      expect(await decisions(store)).toEqual(['escalated', 'escalated', 'committed']);
      const last = (await allEntries(store, 't')).at(-1) as never;
      expect(readRow(last).payload).toMatchObject({
        counselor: { principal: `dr-${approved[2]}` },
      });
      expect(JSON.parse(await soundState(store, 't'))).toMatchObject({ asked: 5 });
    });
  });

  onEveryDatabase((stores) => {
    test('by two concurrently, at two terminals: one decision', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'assize-terminals-'));
      try {
        const place = stores.newPlace();
        const store = await place.open();
        // Commands go by the real clock.
        const writ = writFor('agent', { expires: '2100-01-01T00:00:00.000000Z' });
        const trajectory = await runtimeOver(store, [one]).create(one, {
          trajectoryId: 't',
          writs: [writ],
        });
        const id = await pendingOf(trajectory.propose(intent('ask', { amount: 5 }, writ)));
        writeAnchors(`sqlite:${join(folder, 'desk.db')}`, [operator.publicKey]);
        const module = pathToFileURL(join(import.meta.dirname, '../support/ledger/desk.ts')).href;
        writeFileSync(join(folder, 'desk.ts'), `export { desk } from '${module}';\n`);
        const rest = ['--domain', 'desk.ts', '--anchors', 'desk.db.anchors.json', '--json'];
        const said = await Promise.all(
          ['dr-a', 'dr-b'].map((who) =>
            runProcess(folder, place.url, 'approve', id, '--as', who, ...rest),
          ),
        );
        const refusals = said.filter(({ code }) => code === 2).map(({ err }) => err);
        if (place.url.startsWith('postgres:')) {
          // A name of a command line counts in local stores only.
          expect(refusals, JSON.stringify(said)).toEqual(
            Array(2).fill(expect.stringContaining('assize serve')),
          );
          expect(await decisions(store)).toEqual([]);
        } else {
          expect(refusals, JSON.stringify(said)).toEqual([
            expect.stringContaining('is no longer pending'),
          ]);
          expect(await decisions(store)).toEqual(['committed']);
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    test('after the arguments changed in the database: the trajectory cannot open', async () => {
      const place = stores.newPlace();
      const store = await place.open();
      await ask(await begun(store, one));
      await place.sql(`UPDATE entry SET payload = replace(payload, '"amount":5', '"amount":6')`);
      const error = await opened(await place.open(), one, 'later').catch((caught) => caught);
      expect(error).toMatchObject({
        code: 'invalid_ledger',
        evidence: { seq: 1, code: 'tampered' },
      });
    });
  });
});

const writGrant = {
  issuer: operator.publicKey,
  actions: ['**'],
  scopes: ['**'],
  not_before: '2026-01-01T00:00:00.000000Z',
  expires: '2027-01-01T00:00:00.000000Z',
  max_depth: 4,
};
