/** Decisions that need several counselors. */

import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type ActionSpec, type Domain, defineDomain, escalate, pass } from '#kernel';
import { type CounselorRecord, entryRow, type PendingPayload, type VectorItem } from '#ledger';
import { allEntries, payloads, soundState } from '../../../../tests/support/ledger/desk.ts';
import {
  codeOf,
  doctor,
  pendingOf,
  severalOf,
} from '../../../../tests/support/ledger/multi-approval.ts';
import {
  HandClock,
  intent,
  runtimeOver,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';
import type { AssizeOptions } from './options.ts';
import type { Trajectory } from './trajectory.ts';

const worker = writFor('agent');
const doctorsOwn = writFor('dr-own');
const careful = writFor('careful', { require_approval: ['pay', 'ask'] });
const MINUTE = 60_000;
const two = severalOf(2);
const three = severalOf(3);
const apart = severalOf(2, 'footprint');

async function begun(domain: Domain = two, options: Partial<AssizeOptions> = {}) {
  const store = new MemoryStore();
  const clock = new HandClock();
  const open = async (): Promise<Trajectory> =>
    runtimeOver(store, [domain], { ...options, ports: { clock, ...options.ports } }).open('t');
  const assize = runtimeOver(store, [domain], {
    ...options,
    ports: { clock, ...options.ports },
    approvals: { timeoutMs: 10 * MINUTE, ...options.approvals },
  });
  const trajectory = await assize.create(domain, {
    trajectoryId: 't',
    writs: [worker, doctorsOwn, careful],
  });
  return { store, clock, trajectory, open };
}

const ask = (trajectory: Trajectory, amount = 5, writ = worker): Promise<string> =>
  pendingOf(trajectory.propose(intent('ask', { amount }, writ)));

/** The ledger verifies, and a deep replay of the domain returns the same. */
async function sound(store: MemoryStore, domain: Domain): Promise<Record<string, unknown>> {
  const report = await deepReplay(store, 't', { domains: [domain] });
  expect(report.differences).toEqual([]);
  expect(report).toMatchObject({ same: true, preserved: true });
  return JSON.parse(await soundState(store, 't'));
}

describe('a proposal that needs two approvals', () => {
  test('is pending again, unchanged, after the first and committed by the second', async () => {
    const { store, clock, trajectory } = await begun();
    const first = await ask(trajectory);
    expect(trajectory.approvals.pending()).toMatchObject([
      { id: first, payload: { approvals: 2 } },
    ]);
    clock.forward(MINUTE);
    const answer = await trajectory.approvals.approve(first, doctor('a', { reason: 'it is due' }));
    expect(answer).toMatchObject({
      ruling: 'escalated',
      approvals: 2,
      approvedBy: [{ principal: 'dr-a', as: 'md', method: 'test', reason: 'it is due' }],
    });
    const second = await pendingOf(answer);
    const [, before, step] = (await payloads(store, 't')) as [
      unknown,
      PendingPayload,
      PendingPayload,
    ];
    const { seq, parent, at, head, resolves, approved_by, ...putUp } = step;
    expect({ ...putUp, seq: 1, parent: before.parent, at: before.at, head: before.head }).toEqual(
      before,
    );
    expect({ seq, head, resolves }).toEqual({ seq: 2, head: first, resolves: first });
    expect(at).toBe('2026-03-23T09:01:00.000000Z');
    expect(approved_by).toEqual([
      { principal: 'dr-a', as: 'md', method: 'test', at, reason: 'it is due' },
    ]);
    expect(trajectory.approvals.pending().map(({ id }) => id)).toEqual([second]);
    expect(trajectory.state()).toMatchObject({ asked: 0, approved: 0, by: '' });

    expect(
      await trajectory.approvals.approve(second, doctor('b', { digest: before.digest })),
    ).toMatchObject({
      ruling: 'committed',
    });
    expect((await payloads(store, 't'))[3]).toMatchObject({
      resolves: second,
      counselor: { principal: 'dr-b' },
      approved_by,
    });
    expect(trajectory.approvals.pending()).toEqual([]);
    expect(await sound(store, two)).toMatchObject({ asked: 5, approved: 5, by: 'dr-b' });
  });

  test('is never approved twice by one principal, in any form of the name', async () => {
    const { store, trajectory, open } = await begun();
    const second = await pendingOf(
      trajectory.approvals.approve(await ask(trajectory), doctor('Zo\u00eb')),
    );
    const again = await open();
    for (const name of [
      'Zo\u00eb',
      'Zoe\u0308',
      'zo\u00eb',
      'ZO\u00cb',
      '\uff3ao\u00eb',
      'Z\u043e\u00eb',
      'Zoe',
    ]) {
      for (const one of [trajectory, again]) {
        expect(await codeOf(one, () => one.approvals.approve(second, doctor(name)))).toBe(
          'already_approved',
        );
        expect(
          await codeOf(one, () => one.approvals.approve(second, doctor(name, { override: true }))),
        ).toBe('already_approved');
      }
    }
    await expect(again.approvals.approve(second, doctor('Z\u043e\u00eb'))).rejects.toThrow(
      'dr-Zo\u00eb, whose name looks like dr-Z\u043e\u00eb, has already approved',
    );
    expect(await allEntries(store, 't')).toHaveLength(3);
    expect(await again.approvals.approve(second, doctor('zoa'))).toMatchObject({
      ruling: 'committed',
    });
    expect(await sound(store, two)).toMatchObject({ by: 'dr-zoa' });
  });

  test('is approved only by counselors other than the requester, first and last', async () => {
    const { store, trajectory } = await begun();
    let id = await ask(trajectory, 5, doctorsOwn);
    for (const helper of ['a', 'b']) {
      for (const principal of ['dr-own', 'agent', 'clerk-1', 'nobody', 'md']) {
        expect(
          await codeOf(trajectory, () =>
            trajectory.approvals.approve(id, { principal, method: 'test' }),
          ),
        ).toBe('unauthorised_counselor');
      }
      const answer = await trajectory.approvals.approve(id, doctor(helper));
      if (answer.ruling === 'escalated') id = answer.pending;
    }
    expect(await sound(store, two)).toMatchObject({ asked: 5, by: 'dr-b' });
  });

  test.each(['a', 'b'])('is refused by any one of them: %s', async (name) => {
    const { store, trajectory } = await begun();
    const second = await pendingOf(
      trajectory.approvals.approve(await ask(trajectory), doctor('a')),
    );
    const ruling = await trajectory.approvals.reject(
      second,
      doctor(name, { reason: 'no' }) as never,
    );
    expect(ruling).toMatchObject({
      ruling: 'rejected',
      reason: 'counselor_rejected',
      detail: 'no',
    });
    expect(await codeOf(trajectory, () => trajectory.approvals.approve(second, doctor('c')))).toBe(
      'not_pending',
    );
    expect(await sound(store, two)).toMatchObject({ asked: 0 });
  });

  test('reports its current id to a caller with the former one', async () => {
    const { trajectory } = await begun();
    const first = await ask(trajectory);
    const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
    for (const attempting of [
      () => trajectory.approvals.approve(first, doctor('b')),
      () => trajectory.approvals.reject(first, doctor('b', { reason: 'no' }) as never),
    ]) {
      const attempt = attempting();
      await expect(attempt).rejects.toMatchObject({
        code: 'not_pending',
        evidence: { id: first, now: second },
      });
      await expect(attempt).rejects.toThrow(second);
    }
    await trajectory.approvals.approve(second, doctor('b'));
    const by = trajectory.head;
    const late = trajectory.approvals.approve(first, doctor('c'));
    await expect(late).rejects.toMatchObject({ code: 'not_pending', evidence: { id: first, by } });
    await expect(late).rejects.toThrow(/no longer pending: it was approved by \S*b,/);
  });

  test('freezes as much between the two as before', async () => {
    const { trajectory } = await begun();
    const second = await pendingOf(
      trajectory.approvals.approve(await ask(trajectory), doctor('a')),
    );
    expect(await trajectory.propose(intent('add', { by: 1 }, worker))).toMatchObject({
      ruling: 'frozen',
      by: second,
    });
    const other = await begun(apart);
    const waits = await pendingOf(
      other.trajectory.approvals.approve(await ask(other.trajectory), doctor('a')),
    );
    expect(await other.trajectory.propose(intent('ask', { amount: 1 }, worker))).toMatchObject({
      by: waits,
    });
    expect(await other.trajectory.propose(intent('add', { by: 4 }, worker))).toMatchObject({
      ruling: 'committed',
    });
    expect(await other.trajectory.approvals.approve(waits, doctor('b'))).toMatchObject({
      ruling: 'committed',
    });
    expect(await sound(other.store, apart)).toMatchObject({ n: 4, asked: 5, by: 'dr-b' });
  });

  test('expires when it would have', async () => {
    const { store, clock, trajectory } = await begun();
    const first = await ask(trajectory);
    clock.forward(9 * MINUTE);
    const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
    clock.forward(MINUTE);
    expect(await trajectory.approvals.approve(second, doctor('b'))).toMatchObject({
      ruling: 'rejected',
      reason: 'expired',
    });
    expect((await payloads(store, 't'))[3]).toMatchObject({ resolves: second, reason: 'expired' });
    expect(await sound(store, two)).toMatchObject({ asked: 0 });
  });

  test('continues unchanged in another process after a crash', async () => {
    const { store, trajectory, open } = await begun(three);
    const first = await ask(trajectory);
    const second = await pendingOf((await open()).approvals.approve(first, doctor('a')));
    const third = await pendingOf((await open()).approvals.approve(second, doctor('b')));
    const last = await open();
    expect(last.approvals.pending()).toMatchObject([
      { id: third, payload: { approved_by: [{}, {}], approvals: 3 } },
    ]);
    expect(await last.approvals.approve(third, doctor('c'))).toMatchObject({ ruling: 'committed' });
    // A caller with an older generation of memory gets the resolution.
    expect(await trajectory.approvals.approve(first, doctor('d')).catch(({ code }) => code)).toBe(
      'not_pending',
    );
    expect(await sound(store, three)).toMatchObject({ asked: 5, by: 'dr-c' });
  });

  test('is the answer to the same proposal and key at each step', async () => {
    const { trajectory, open } = await begun();
    const proposal = intent('ask', { amount: 5 }, worker, { idempotencyKey: 'k' });
    const first = await pendingOf(trajectory.propose(proposal));
    const second = await pendingOf(trajectory.approvals.approve(first, doctor('a')));
    for (const one of [trajectory, await open()]) {
      expect(await one.propose(proposal)).toMatchObject({
        ruling: 'escalated',
        pending: second,
        approvals: 2,
      });
    }
    const committed = await trajectory.approvals.approve(second, doctor('b'));
    for (const one of [trajectory, await open()])
      expect(await one.propose(proposal)).toEqual(committed);
  });

  test('cannot be replaced by an approver’s state, unseen by the other approver', async () => {
    const { trajectory } = await begun();
    let id = await ask(trajectory);
    const replacement = [{ op: 'replace', path: '/approved', value: 9 }];
    for (let n = 0; n < 2; n++) {
      const attempt = () =>
        trajectory.approvals.approve(id, doctor(`r${n}`, { replacement, override: true }));
      expect(await codeOf(trajectory, attempt)).toBe('invalid_state');
      const answer = await trajectory.approvals.approve(id, doctor(`${n}`));
      if (answer.ruling === 'escalated') id = answer.pending;
    }
    expect(trajectory.approvals.pending()).toEqual([]);
  });
});

/** Signing needs two counselors. The scales are not part of it and must be level. */
const scales = defineDomain<any, any>({
  name: 'scales',
  version: '1',
  freeze: 'footprint',
  state: z.object({
    signed: z.boolean(),
    by: z.string(),
    scales: z.record(z.string(), z.number()),
  }),
  initial: { signed: false, by: '', scales: { u: 0, v: 0 } },
  processes: { signing: { writes: ['/signed'] }, weighing: { writes: ['/scales/{scale}'] } },
  roles: {
    signing: { processes: ['signing'] },
    on: { params: ['scale'], processes: ['weighing'] },
  },
  actions: {
    sign: {
      process: 'signing',
      args: z.null(),
      apply: (state: any) => {
        state.signed = true;
      },
    },
    put: {
      process: 'weighing',
      args: z.number(),
      apply: (state: any, to: number, { role }: any) => {
        state.scales[role.scale] = to;
      },
    },
  } as never,
  invariants: (rules: any) => [
    rules.invariant(
      'SIGNED',
      ['/signed', '/by'],
      ({ signed, by }: any) => (signed && by === '' ? escalate('by whom') : pass),
      {
        approvals: 2,
        onApprove: (state: any, { counselor }: any) => {
          state.by = counselor;
        },
      },
    ),
    rules.each('LEVEL', '/scales/*', {}, (n: number) => (n < 5 ? pass : escalate(`${n}`))),
  ],
  counselors: { md: (principal: string) => principal.startsWith('dr-') },
});

describe('the approver', () => {
  const ODD = [
    '',
    'dr-a ',
    ' dr-a',
    'dr-\u200ba',
    'dr-a\ufeff',
    'dr-a\u00ad',
    'dr-a\u0000',
    'dr-\u202ea',
    'dr-a\u00a0',
    'dr-  a',
  ];

  test('has a visible name; invisible text allows no repeated or self-approval', async () => {
    const { trajectory } = await begun();
    const second = await pendingOf(
      trajectory.approvals.approve(await ask(trajectory), doctor('a')),
    );
    for (const principal of ODD) {
      const by = { principal, method: 'test' };
      expect(await codeOf(trajectory, () => trajectory.approvals.approve(second, by))).toBe(
        'bad_intent',
      );
      expect(
        await codeOf(trajectory, () =>
          trajectory.approvals.reject(second, { ...by, reason: 'no' }),
        ),
      ).toBe('bad_intent');
    }
    expect(await codeOf(trajectory, () => trajectory.approvals.approve(second, doctor('a')))).toBe(
      'already_approved',
    );
  });

  test('did not ask for it under a name with something in it that can’t be seen', async () => {
    for (const subject of ODD.slice(1)) {
      const assize = runtimeOver(new MemoryStore(), [two]);
      const trajectory = await assize.create(two, { trajectoryId: 't' });
      const id = await pendingOf(
        trajectory.propose(intent('ask', { amount: 5 }, writFor(subject))),
      );
      const plain = subject.includes('  ') ? 'dr- a' : 'dr-a';
      const approve = () => trajectory.approvals.approve(id, { principal: plain, method: 'test' });
      expect([subject, await codeOf(trajectory, approve)]).toEqual([
        subject,
        'unauthorised_counselor',
      ]);
    }
  });
});

describe('an override of a proposal that needs two approvals', () => {
  /** Proposes a change that a later rule rejects, so that its approval fails. */
  const tooMuch = (trajectory: Trajectory): Promise<string> => ask(trajectory, 200);

  test('is asked of each, and recorded with each', async () => {
    const { store, trajectory } = await begun();
    const first = await tooMuch(trajectory);
    expect(await codeOf(trajectory, () => trajectory.approvals.approve(first, doctor('a')))).toBe(
      'override_needed',
    );
    const second = await pendingOf(
      trajectory.approvals.approve(first, doctor('a', { override: true })),
    );
    expect(await codeOf(trajectory, () => trajectory.approvals.approve(second, doctor('b')))).toBe(
      'override_needed',
    );
    expect(
      await trajectory.approvals.approve(second, doctor('b', { override: true })),
    ).toMatchObject({
      ruling: 'committed',
    });
    const [, , step, commit] = await payloads(store, 't');
    expect(step).toMatchObject({ approved_by: [{ principal: 'dr-a', override: true }] });
    expect(commit).toMatchObject({ counselor: { principal: 'dr-b', override: true } });
    expect((await deepReplay(store, 't', { domains: [two] })).differences).toEqual([]);
  });

  test('covers only violations that each approver saw: no other rule or message', async () => {
    const store = new MemoryStore();
    const trajectory = await runtimeOver(store, [scales]).create(scales, { trajectoryId: 't' });
    const put = (scale: string, to: number) =>
      trajectory.propose({
        action: 'put',
        role: { name: 'on', params: { scale } },
        args: to,
        writ: writFor('agent'),
      });
    const over = { override: true };
    const tip = async (scale: string, to = 9): Promise<void> => {
      expect(
        await trajectory.approvals.approve(await pendingOf(put(scale, to)), doctor('z', over)),
      ).toMatchObject({
        ruling: 'committed',
      });
    };
    const first = await pendingOf(
      trajectory.propose(intent('sign', null, writFor('agent'), { role: 'signing' } as never)),
    );
    await tip('u');
    const second = await pendingOf(trajectory.approvals.approve(first, doctor('a', over)));
    const seen = [{ invariant_id: 'LEVEL', result: 'escalate', detail: '/scales/u: 9' }];
    expect((await payloads(store, 't')).at(-1)).toMatchObject({
      approved_by: [{ override: true, overridden: seen }],
    });
    await put('u', 0);
    await tip('v');
    const approve = () => trajectory.approvals.approve(second, doctor('b', over));
    expect(await codeOf(trajectory, approve)).toBe('changed_since');
    await expect(approve()).rejects.toThrow(
      /dr-a approved it with override when LEVEL.*\/scales\/u: 9/,
    );
    await put('v', 0);
    await tip('u', 8);
    expect(await codeOf(trajectory, approve)).toBe('changed_since');
    await tip('u');
    expect(await approve()).toMatchObject({ ruling: 'committed' });
    expect((await deepReplay(store, 't', { domains: [scales] })).differences).toEqual([]);
  });

  test('is asked of the second where all passes again, and is in the commit', async () => {
    const store = new MemoryStore();
    const trajectory = await runtimeOver(store, [scales]).create(scales, { trajectoryId: 't' });
    const put = (to: number) =>
      trajectory.propose({
        action: 'put',
        role: { name: 'on', params: { scale: 'u' } },
        args: to,
        writ: writFor('agent'),
      });
    const first = await pendingOf(
      trajectory.propose(intent('sign', null, writFor('agent'), { role: 'signing' } as never)),
    );
    await trajectory.approvals.approve(await pendingOf(put(9)), doctor('z', { override: true }));
    const second = await pendingOf(
      trajectory.approvals.approve(first, doctor('a', { override: true })),
    );
    await put(0);
    expect(await codeOf(trajectory, () => trajectory.approvals.approve(second, doctor('b')))).toBe(
      'override_needed',
    );
    await trajectory.approvals.approve(second, doctor('b', { override: true }));
    const overridden = [{ invariant_id: 'LEVEL', result: 'escalate', detail: '/scales/u: 9' }];
    expect((await payloads(store, 't')).at(-1)).toMatchObject({
      kind: 'commit',
      counselor: { principal: 'dr-b', override: true, overridden },
      approved_by: [{ principal: 'dr-a', override: true, overridden }],
      detection_vector: [{ result: 'pass' }, { result: 'pass' }],
    });
    expect((await deepReplay(store, 't', { domains: [scales] })).differences).toEqual([]);
  });

  test('is not recorded where nothing is to be overridden', async () => {
    const { store, trajectory } = await begun();
    const second = await pendingOf(
      trajectory.approvals.approve(await ask(trajectory), doctor('a', { override: true })),
    );
    await trajectory.approvals.approve(second, doctor('b', { override: true }));
    const [, , step, commit] = await payloads(store, 't');
    expect(step).toMatchObject({ approved_by: [{ principal: 'dr-a', as: 'md', method: 'test' }] });
    expect(step).not.toHaveProperty('approved_by.0.override');
    expect(commit).not.toHaveProperty('counselor.override');
  });

  test('does not cover a rule broken in another process after the first approval', async () => {
    const { trajectory } = await begun(apart);
    const second = await pendingOf(
      trajectory.approvals.approve(await ask(trajectory), doctor('a', { override: true })),
    );
    // In another process a counselor overrides a rule that passed at the first approval.
    const held = writFor('held', { require_approval: ['add'] });
    const other = await pendingOf(trajectory.propose(intent('add', { by: 1 }, held)));
    const replacement = [{ op: 'replace', path: '/n', value: 11 }] as const;
    await trajectory.approvals.approve(other, doctor('x', { override: true, replacement }));
    for (const override of [false, true])
      expect(
        await codeOf(trajectory, () =>
          trajectory.approvals.approve(second, doctor('b', { override })),
        ),
      ).toBe('changed_since');
    expect(
      await trajectory.approvals.reject(second, doctor('b', { reason: 'anew' }) as never),
    ).toMatchObject({
      ruling: 'rejected',
    });
  });
});

describe('how many it takes', () => {
  test('is the action’s for a writ escalation, or the maximum of both for a rule', async () => {
    const domain = severalOf(2, 'world', 3);
    const { trajectory } = await begun(domain);
    const pay = await trajectory.propose(intent('pay', { usd: 0 }, careful));
    expect(pay).toMatchObject({
      ruling: 'escalated',
      approvals: 3,
      channel: 'any',
      reason: 'writ_requires_approval',
    });
    await trajectory.approvals.reject(await pendingOf(pay), doctor('a', { reason: 'no' }) as never);
    expect(await trajectory.propose(intent('ask', { amount: 1 }, careful))).toMatchObject({
      approvals: 2,
    });
  });

  test('is one by default, and then no entry records it', async () => {
    const one = severalOf(1);
    const { store, trajectory } = await begun(one);
    const answer = await trajectory.propose(intent('ask', { amount: 1 }, worker));
    expect(answer).not.toHaveProperty('approvals');
    expect((await payloads(store, 't'))[1]).not.toHaveProperty('approvals');
    expect(await trajectory.approvals.approve(await pendingOf(answer), doctor('a'))).toMatchObject({
      ruling: 'committed',
    });
  });

  test('by a domain under the same hash that says otherwise: nothing is approved', async () => {
    const { store, trajectory } = await begun();
    const first = await ask(trajectory);
    const milder = { ...severalOf(1), hash: two.hash };
    const again = await runtimeOver(store, [milder as Domain]).open('t');
    const replacement = [{ op: 'replace', path: '/approved', value: 5 }];
    for (const rest of [{}, { replacement, override: true }])
      expect(await codeOf(again, () => again.approvals.approve(first, doctor('a', rest)))).toBe(
        'changed_since',
      );
  });
});

describe('deep replay', () => {
  async function decided() {
    const { store, trajectory } = await begun(three);
    const second = await pendingOf(
      trajectory.approvals.approve(await ask(trajectory), doctor('a')),
    );
    const third = await pendingOf(trajectory.approvals.approve(second, doctor('b')));
    await trajectory.approvals.approve(third, doctor('c'));
    return store;
  }
  const found = async (domain: Domain): Promise<string[]> => {
    const report = await deepReplay(await decided(), 't', {
      domains: [{ ...domain, hash: three.hash }],
    });
    return report.differences.map(({ seq, what }) => `${seq} ${what}`);
  };

  test('finds a former counselor at the step that they approved', async () => {
    const md = (principal: string): boolean => principal.startsWith('dr-') && principal !== 'dr-b';
    expect(await found({ ...three, counselors: { ...three.counselors, md } })).toEqual([
      '3 counselor',
    ]);
  });

  test('finds a recorded override of a different violation', async () => {
    const store = new MemoryStore();
    const trajectory = await runtimeOver(store, [scales]).create(scales, { trajectoryId: 't' });
    await trajectory.propose(intent('sign', null, writFor('agent'), { role: 'signing' } as never));
    const put = {
      action: 'put',
      role: { name: 'on', params: { scale: 'u' } },
      args: 9,
      writ: writFor('agent'),
    };
    await trajectory.approvals.approve(
      await pendingOf(trajectory.propose(put)),
      doctor('z', { override: true }),
    );
    await trajectory.approvals.approve(
      trajectory.approvals.pending()[0]?.id as string,
      doctor('a', { override: true }),
    );
    const step = (await payloads(store, 't')).at(-1) as PendingPayload;
    const differences = async (overridden: VectorItem[]) => {
      const written = new MemoryStore();
      const approved_by = [{ ...(step.approved_by?.[0] as CounselorRecord), overridden }];
      const rows = (await allEntries(store, 't')).slice(0, -1);
      await written.commit({
        entries: [...rows, entryRow({ ...step, approved_by })] as never,
        blobs: [],
      });
      return (await deepReplay(written, 't', { domains: [scales] })).differences;
    };
    expect(await differences(step.approved_by?.[0]?.overridden as VectorItem[])).toEqual([]);
    const signed: VectorItem = { invariant_id: 'SIGNED', result: 'escalate' };
    expect(await differences([signed])).toMatchObject([
      { seq: step.seq, what: 'vector', recorded: [signed] },
    ]);
    await expect(differences([])).rejects.toThrow('does not name what it overrides');
  });

  test('finds a changed number of required approvals, at the submission', async () => {
    for (const approvals of [2, 4])
      expect(await found(severalOf(approvals))).toEqual(['1 approvals']);
  });

  test('finds a changed action at its submission; the decision depends on it', async () => {
    const { ask: honest } = three.actions as Record<string, ActionSpec>;
    const apply = (state: any): void => {
      state.asked += 1;
    };
    const other = { ...three, actions: { ...three.actions, ask: { ...honest, apply } } };
    expect(await found(other as Domain)).toEqual(['1 delta', '1 approval', '1 digest']);
  });
});
