/**
 * Every callback does something hostile once. The caller gets a ruling or a typed error, the state
 * in memory stays the state of the ledger, the process goes on, and so does the trajectory.
 */

import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { isAssizeError, type Json, toError } from '#base';
import { canonicalize } from '#canon';
import { declareTool } from '#effects';
import {
  call,
  count,
  defineDomain,
  each,
  eachCall,
  escalate,
  failureIntent,
  invariant,
  pass,
  sum,
  unique,
} from '#kernel';
import { seededRandom } from '#oracle';
import type { AssizeOptions, Trajectory } from '#runtime';
import { callbacksOf } from '../support/callbacks.ts';
import { soundState } from '../support/ledger/desk.ts';
import { HandClock, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { oddErrors, unhandledIn } from '../support/process/errors.ts';

/** The hostile return or throw, by name. `async` makes promises that reject later. */
type Deed = () => unknown;

const late = async (): Promise<never> => {
  await null;
  throw new Error('late');
};
const DEEDS: readonly (readonly [string, Deed])[] = [
  ...[
    ...oddErrors(),
    ['a function', () => 1],
    ['a symbol', Symbol('odd')],
    ['undefined', undefined],
  ].map(
    ([name, thrown]) =>
      [
        `throws ${name as string}`,
        () => {
          throw thrown;
        },
      ] as const,
  ),
  ['returns a promise that rejects', () => Promise.reject(new Error('now'))],
  ['returns a promise that rejects later', late],
  [
    'returns a promise that rejects with a hostile value',
    () => Promise.reject(oddErrors()[0]?.[1]),
  ],
  ['returns a promise', () => Promise.resolve(true)],
];

/** The place of the next deed, and the deed. */
class Trap {
  place: string | undefined;
  deed: Deed = () => undefined;

  /** The function. It does the deed if this is the place. */
  at<F extends (...args: any[]) => any>(place: string, plain: F): F {
    return ((...args: any[]) => (this.place === place ? this.deed() : plain(...args))) as F;
  }
}

/** A domain, a tool and a policy with a trap in each callback. */
function specOf(trap: Trap) {
  const tool = declareTool({
    name: 'sink.send',
    input: z
      .object({ n: z.number() })
      .refine(trap.at('zod.refine of a tool', () => true))
      .transform(trap.at('zod.transform of a tool', (input) => input)),
    class: { reversibility: 'with_cost', delivery: 'buffered', sink: 'keyed' },
    reads: trap.at('Scopes of reads', () => ['sink:a']),
    writes: trap.at('Scopes of writes', () => ['sink:a']),
    cost: trap.at('ToolSpec.cost', () => ({ calls: 1 })),
    undoCost: trap.at('ToolSpec.undoCost', () => ({ calls: 1 })),
    plan: trap.at('ToolSpec.plan', () => null),
    execute: () => null,
    compensate: () => ({ undone: 'all' }),
  });
  const spec: any = {
    name: 'trapped',
    version: '1',
    state: z.object({
      n: z.number(),
      by: z.string(),
      items: z.record(z.string(), z.object({ n: z.number() })),
    }),
    initial: { n: 0, by: '', items: {} },
    processes: { work: { writes: ['/n', '/items', '/by'] } },
    roles: { worker: { processes: ['work'] } },
    actions: {
      plain: {
        process: 'work',
        args: z.number(),
        apply: (state: any, n: number) => {
          state.n += n;
        },
      },
      work: {
        process: 'work',
        args: z
          .number()
          .refine(trap.at('zod.refine', () => true))
          .superRefine(trap.at('zod.superRefine', () => undefined))
          .transform(trap.at('zod.transform', (n) => n)),
        scopes: trap.at('Action.scopes', () => ['work:a']),
        cost: trap.at('Action.cost', () => ({ acts: 1 })),
        beliefs: trap.at('Action.beliefs', () => []),
        calls: trap.at('Action.calls', () => [call(tool, { n: 1 })]),
        apply: (state: any, n: number) => {
          state.n += n;
          state.items[`i${n}`] = { n };
          return trap.at('Action.apply', () => undefined)();
        },
      },
      ask: {
        process: 'work',
        args: z.number(),
        apply: (state: any, n: number) => {
          state.items['i'] = { n };
          state.by = 'nobody';
        },
        onApprove: trap.at('Action.onApprove', () => undefined),
        widens: trap.at('Action.widens', () => undefined),
      },
    },
    memory: { predicates: { likes: { cardinality: 'multi-valued', strategy: 'lww' } } },
    counselors: { boss: trap.at('CounselorPredicate', (name: string) => name === 'boss') },
    invariants: [
      invariant('ASK', ['/by'], ({ by }: any) => (by === 'nobody' ? escalate('it asks') : pass), {
        onApprove: (state: any, { counselor }) => {
          state.by = counselor;
          return trap.at('InvariantOptions.onApprove', () => undefined)();
        },
      }),
      invariant(
        'PLAIN',
        ['/n'],
        trap.at('PlainInvariant.check', () => pass),
        {
          index: {
            items: {
              path: '/items/*',
              per: trap.at('Index.per', () => ''),
              of: trap.at('Index.of', () => 1),
            },
          },
        },
      ),
      each(
        'EACH',
        '/items/*',
        { reads: ['/n'], with: trap.at('EachInvariant.with', () => ({ n: '/n' as const })) },
        trap.at('EachInvariant.check', () => pass),
      ),
      unique(
        'UNIQUE',
        '/items/*',
        { by: trap.at('UniqueInvariant.by', () => 'a') },
        trap.at('UniqueInvariant.check', () => pass),
      ),
      sum(
        'SUM',
        '/items/*',
        {
          of: trap.at('SumInvariant.of', () => 1),
          per: trap.at('SumInvariant.per', () => 'a'),
          reads: ['/n'],
          with: trap.at('SumInvariant.with', () => ({ n: '/n' as const })),
        },
        trap.at('SumInvariant.check', () => pass),
      ),
      count(
        'COUNT',
        '/items/*',
        {
          where: trap.at('CountInvariant.where', () => true),
          per: trap.at('CountInvariant.per', () => 'a'),
          reads: ['/n'],
          with: trap.at('CountInvariant.with', () => ({ n: '/n' as const })),
        },
        trap.at('CountInvariant.check', () => pass),
      ),
      eachCall(
        'CALL',
        '**',
        { reads: ['/n'], with: trap.at('CallInvariant.with', () => ({ n: '/n' as const })) },
        trap.at('CallInvariant.check', () => pass),
      ),
    ],
  };
  return { spec, tool };
}

const writ = writFor('agent', {
  trajectory: 't',
  max_depth: 0,
  budget: { acts: 1_000, calls: 1_000 },
});

type Attempt = (trajectory: Trajectory, trap: Trap) => Promise<unknown>;

const propose =
  (action: string) =>
  (trajectory: Trajectory): Promise<unknown> =>
    trajectory.propose({ action, role: 'worker', args: 3, writ } as never);
const decided =
  (more: { readonly args?: number }): Attempt =>
  async (trajectory, trap) => {
    const { place } = trap;
    trap.place = undefined;
    const pending = (await propose('ask')(trajectory)) as { pending: string };
    trap.place = place;
    return trajectory.approvals.approve(pending.pending, {
      principal: 'boss',
      method: 'test',
      ...more,
    });
  };
const asked = decided({});
const settled: Attempt = async (trajectory) => {
  await asked(trajectory, new Trap());
  await new Promise(setImmediate);
};
const transacted: Attempt = (trajectory) =>
  trajectory.transaction({ writ, writes: ['sink:**'], retries: 0 }, async (tx) => {
    await tx.call('sink.send', { n: 1 });
    tx.propose({ action: 'plain', role: 'worker', args: 3 } as never);
  });
const upgraded: Attempt = async (trajectory, trap) => {
  const migrate = trap.at('Migration', () => undefined);
  return trajectory.upgrade(nextVersion as never, { migrate, writ, reason: 'test' });
};
const followed: Attempt = async (trajectory, trap) => {
  trajectory.subscribe(
    'worker',
    {},
    trap.at('SliceListener', () => undefined),
  );
  return propose('plain')(trajectory);
};
const failing: Attempt = async (_, trap) => {
  const said = failureIntent(
    { onFailure: trap.at('Action.onFailure', () => ({})) } as never,
    null,
    {},
  );
  expect(Object.keys(said)).toEqual(['fault']);
};

/** How each callback comes to be called. */
const PLACES: Readonly<Record<string, Attempt>> = {
  ...Object.fromEntries(
    [
      ...[
        'zod.refine',
        'zod.superRefine',
        'zod.transform',
        'zod.refine of a tool',
        'zod.transform of a tool',
      ],
      ...['Scopes of reads', 'Scopes of writes', 'ToolSpec.cost', 'ToolSpec.undoCost'],
      ...[
        'Action.scopes',
        'Action.cost',
        'Action.beliefs',
        'Action.calls',
        'Action.apply',
        'Policy.evaluate',
      ],
      ...[
        'PlainInvariant.check',
        'Index.per',
        'Index.of',
        'EachInvariant.with',
        'EachInvariant.check',
      ],
      ...[
        'UniqueInvariant.by',
        'UniqueInvariant.check',
        'SumInvariant.of',
        'SumInvariant.per',
        'SumInvariant.with',
      ],
      ...[
        'SumInvariant.check',
        'CountInvariant.where',
        'CountInvariant.per',
        'CountInvariant.with',
      ],
      ...[
        'CountInvariant.check',
        'CallInvariant.with',
        'CallInvariant.check',
        'Clock.now',
        'Random.bytes',
      ],
    ].map((place) => [place, propose('work')]),
  ),
  'ToolSpec.plan': transacted,
  'Action.onApprove': propose('ask'),
  'InvariantOptions.onApprove': propose('ask'),
  'Action.onApprove later': asked,
  'InvariantOptions.onApprove later': asked,
  'Action.widens': decided({ args: 4 }),
  CounselorPredicate: asked,
  'Action.onFailure': failing,
  'ApprovalListeners.onPending': settled,
  'ApprovalListeners.onResolved': settled,
  'AssizeOptions.onNotificationFailed': settled,
  SliceListener: followed,
  Migration: upgraded,
};

/** Callbacks without a place here, with the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['Options.with', 'Check', 'Options.by', 'Options.per', 'Options.of', 'Options.where'].flatMap(
      (end) =>
        ['Each', 'Unique', 'Group', 'Sum', 'Count', 'Call'].map((kind) => [
          kind + end,
          'typed form of the invariant',
        ]),
    ),
  ),
  ...Object.fromEntries(
    ['execute', 'compensate', 'mitigate', 'reconcile'].map((one) => [
      `ToolSpec.${one}`,
      'may be asynchronous',
    ]),
  ),
  ...Object.fromEntries(
    ['execute', 'stage', 'compensate'].map((one) => [`AtomicBatch.${one}`, 'may be asynchronous']),
  ),
  ...Object.fromEntries(
    ['execute', 'read', 'commit', 'rollbackTo', 'replay', 'rollback'].map((one) => [
      `StagedTransaction.${one}`,
      'asynchronous',
    ]),
  ),
  Resolver: 'may be asynchronous',
  Pause: 'asynchronous',
  'Judge.choose': 'may be asynchronous',
  'ToolSpec.conflictWith': 'called by the constructor, before there is a trajectory',
  'DomainSpec.invariants': 'called by defineDomain, before there is a trajectory',
  'EffectOptions.onRecoveryFailed': 'called as onNotificationFailed is',
};

const FILES = [
  ...[
    'kernel/domain/domain-spec.ts',
    'kernel/domain/invariant.ts',
    'authority/policy.ts',
    'effects/tool.ts',
  ],
  ...[
    'effects/atomic-batch.ts',
    'effects/aliases.ts',
    'runtime/options.ts',
    'runtime/writer/listeners/notifications.ts',
  ],
  ...[
    'runtime/writer/listeners/subscriptions.ts',
    'runtime/memory/plan/votes.ts',
    'oracle/clock.ts',
    'oracle/random.ts',
  ],
  ...['oracle/pause.ts'],
];

/** Functions that the package hands out, or that it alone calls. */
const OWN = /^(Counts|Rules|Tool|Subscription)\.|^(Template|BatchOf|Scopes)$/;

test('every callback of the public options has a place here, or a reason', () => {
  const known = new Set([...Object.keys(PLACES), ...Object.keys(ELSEWHERE), 'Scopes']);
  const found = callbacksOf(FILES).filter((name) => !OWN.test(name));
  expect(found).toContain('Action.apply');
  expect(found.filter((name) => !known.has(name))).toEqual([]);
});

const version1 = new Trap();
const nextVersion = defineDomain<any, any>({ ...specOf(version1).spec, version: '2' });

async function stage(trap: Trap) {
  const store = new MemoryStore();
  const { spec, tool } = specOf(trap);
  const domain = defineDomain<any, any>(spec);
  const clock = new HandClock();
  const random = seededRandom('hostile');
  const options: Partial<AssizeOptions> = {
    tools: [tool],
    policy: {
      id: 'all',
      digest: 'a'.repeat(64),
      evaluate: trap.at(
        'Policy.evaluate',
        () => ({ decision: 'allow', reasons: [], errors: [] }) as const,
      ),
    },
    approvals: {
      onPending: trap.at('ApprovalListeners.onPending', () => {
        if (trap.place === 'AssizeOptions.onNotificationFailed') throw new Error('a listener');
      }),
      onResolved: trap.at('ApprovalListeners.onResolved', () => undefined),
    },
    onNotificationFailed: trap.at('AssizeOptions.onNotificationFailed', () => undefined),
    ports: {
      clock: { now: trap.at('Clock.now', () => clock.now()) },
      random: { bytes: trap.at('Random.bytes', (size: number) => random.bytes(size)) },
    },
  };
  const assize = runtimeOver(store, [domain, nextVersion], options);
  const trajectory = await assize.create(domain, { trajectoryId: 't', writs: [writ] });
  return { store, assize, trajectory: trajectory as unknown as Trajectory };
}

/** An error of a plan goes to the body of the transaction. The body passes it on. */
function isTyped(place: string, error: unknown): boolean {
  return isAssizeError(error) || (place === 'ToolSpec.plan' && toError(error) === error);
}

test.each(Object.entries(PLACES))(
  '%s may do anything',
  { timeout: 30_000 },
  async (place, attempt) => {
    for (const [name, deed] of DEEDS) {
      const trap = new Trap();
      const { store, assize, trajectory } = await stage(trap);
      trap.deed = deed;
      trap.place = place.replace(' later', '');
      const at = `${place} ${name}`;
      const unhandled = await unhandledIn(async () => {
        await attempt(trajectory, trap).catch((error: unknown) => {
          expect([at, isTyped(place, error)]).toEqual([at, true]);
        });
        trap.place = undefined;
        expect([at, canonicalize(trajectory.state() as Json)]).toEqual([
          at,
          await soundState(store, 't'),
        ]);
        const next = (await propose('plain')(trajectory)) as { ruling: string };
        expect([at, next.ruling]).toEqual([at, 'committed']);
        expect([at, canonicalize(trajectory.state() as Json)]).toEqual([
          at,
          await soundState(store, 't'),
        ]);
        await assize.close();
      });
      expect([at, unhandled]).toEqual([at, []]);
    }
  },
);
