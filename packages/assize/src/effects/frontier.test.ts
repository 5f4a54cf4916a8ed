import { afterAll, describe, expect, test } from 'vitest';
import {
  type Explored,
  explore,
  RULES,
  type Rules,
} from '../../../../tests/support/models/explorer/explore.ts';
import { meet, PAIRS, type Place } from '../../../../tests/support/models/explorer/view.ts';
import { Broken } from '../../../../tests/support/models/explorer/walk.ts';
import type {
  Plan,
  PlannedEffect,
  Trouble,
} from '../../../../tests/support/models/explorer/world.ts';
import { Coordinator } from './coordinator.ts';
import type { EffectClass } from './protocol.ts';
import { SharedWork } from './shared-work.ts';

// Walks the frontier through every order of events: reads and writes, one resource and both by a
// pattern, later claims and releases, optimistic reads, restarts; in one process, and in two where
// one may end or lose its lease.

const keyed: EffectClass = { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' };
const queryable: EffectClass = { ...keyed, sink: 'queryable' };
const blind: EffectClass = { ...keyed, sink: 'blind' };
const held: EffectClass = { ...keyed, delivery: 'buffered' };
const heldBlind: EffectClass = { ...held, sink: 'blind' };

const act = (on: Place, kind: EffectClass = keyed): PlannedEffect => ({ class: kind, on });
const commit = (...steps: Plan['steps']): Plan => ({ steps, ends: 'commit' });
const fail = (...steps: Plan['steps']): Plan => ({ steps, ends: 'throw' });
const reads = (place: Place) => ({ reads: place });

/** Each transaction reads a number and writes the next one. */
const COUNT = commit(reads('x'), act('x', held));

const ALONE: Readonly<Record<string, readonly Plan[]>> = {
  'a counter of three': [COUNT, COUNT, COUNT],
  'a counter where one acts immediately and is undone': [
    COUNT,
    COUNT,
    fail(reads('x'), act('x', queryable)),
  ],
  'a counter of three who guess': [1, 1, 0].map((retries) => ({
    ...COUNT,
    reading: 'optimistic' as const,
    retries,
  })),
  'a counter where one guesses': [
    COUNT,
    { ...COUNT, reading: 'optimistic', retries: 1 },
    fail(act('x', blind)),
  ],
  'a counter with epochs at the gate': [1, 1, 0].map((retries) => ({
    ...COUNT,
    epoch: 'late' as const,
    retries,
  })),
  'each writes where another reads': [
    commit(reads('x'), act('y')),
    commit(reads('y'), act('x', queryable)),
    commit(reads('*')),
  ],
  'a pattern, and what is in it': [
    fail(act('*')),
    commit(reads('x'), act('y', held)),
    commit(act('x', queryable)),
  ],
  'a pattern that is read, and what is in it': [
    commit(reads('*'), act('x')),
    commit(act('y', blind)),
    fail(act('x')),
  ],
  'two that come to claim what the other has': [
    { ...commit(act('x'), { expands: ['wy'] }, act('y')), claims: ['wx'], retries: 1 },
    { ...commit(act('y'), { expands: ['wx'] }, act('x')), claims: ['wy'], retries: 1 },
  ],
  'one that comes to read and to claim all': [
    {
      ...commit(act('x'), { expands: ['r*', 'wy'] }, reads('y'), act('y', held)),
      claims: ['wx'],
      retries: 1,
    },
    commit(act('y')),
    commit(act('x', held)),
  ],
  'one that gives up what it has read': [
    commit(reads('x'), { releases: ['rx'] }, act('y')),
    commit(reads('x'), act('x')),
    fail(act('x', queryable)),
  ],
  'one that gives up what another comes to claim': [
    { ...commit({ releases: ['wx'] }, act('y', held)), claims: ['wx', 'wy'] },
    { ...fail({ expands: ['wx'] }, act('*')), claims: ['wy'], retries: 1 },
    commit(reads('x'), act('x')),
  ],
};

const IN_TWO: Readonly<Record<string, readonly Plan[]>> = {
  'a counter': [COUNT, { ...commit(reads('x'), act('x', queryable)), by: 1 }],
  'what is undone in one, and done in the other': [
    fail(act('x')),
    { ...commit(act('x', queryable)), by: 1 },
  ],
  'what nobody can tell': [commit(act('x', heldBlind)), { ...commit(act('x')), by: 1 }],
  'one that comes to claim what the other has': [
    { ...commit(act('x', held), { expands: ['wy'] }, act('y')), claims: ['wx'], retries: 1 },
    { ...commit(act('y', queryable)), by: 1 },
  ],
  'one that gives up what the other waits for': [
    commit(reads('x'), { releases: ['rx'] }, act('y')),
    { ...commit(act('x', held)), by: 1 },
  ],
  'one that guesses': [
    { ...COUNT, reading: 'optimistic', retries: 1 },
    { ...fail(act('x', queryable)), by: 1 },
  ],
};

const NONE: Trouble = { crashes: 0, losses: 0, refusals: 0 };
const TROUBLES: readonly Trouble[] = [{ ...NONE, crashes: 1, losses: 1 }];
const MEMBERS: readonly Trouble[] = [
  { ...NONE, crashes: 1, losses: 1 },
  { ...NONE, lapses: 1 },
];
/** Cases that take minutes. */
const MUCH: readonly Trouble[] = [
  { ...NONE, crashes: 2, losses: 1, refusals: 1 },
  { ...NONE, crashes: 1, losses: 2, silences: 1, decisions: 2 },
];
const MANY: readonly Trouble[] = [
  { ...NONE, crashes: 2, losses: 1 },
  { ...NONE, crashes: 1, lapses: 1, losses: 1 },
];

const isDeep = process.env['ASSIZE_CASES'] !== undefined;
let [states, views, waited] = [0, 0, 0];

async function explored({ states: more, views: all }: Explored): Promise<void> {
  states += more;
  views += all.size;
  waited += await all.checkWaking();
}

afterAll(() => {
  process.stdout.write(
    `frontier: ${states} states, ${views} views of live work, ${waited} were woken\n`,
  );
});

describe('plans act in epoch order, without loss, stale work or endless waits', () => {
  test.each(Object.entries(ALONE))('%s', async (_, plans) => {
    await explored(explore(plans, [...TROUBLES, ...(isDeep ? MUCH : [])]));
  });

  test.each(Object.entries(IN_TWO))('in two processes: %s', async (_, plans) => {
    await explored(explore(plans, [...MEMBERS, ...(isDeep ? MANY : [])], RULES, 2));
  });

  test('resources are distinguished as scopes are', () => {
    expect(PAIRS.filter(([one, other, isMet]) => meet(one, other) !== isMet)).toEqual([]);
    expect(PAIRS.filter(([, , isMet]) => isMet)).toHaveLength(21);
  });
});

/** The violation found; '' if there is none. */
function found(
  plans: readonly Plan[],
  troubles: readonly Trouble[],
  rules: Rules,
  processes: number,
): string {
  try {
    explore(plans, troubles, rules, processes);
  } catch (error) {
    expect(error).toBeInstanceOf(Broken);
    return (error as Broken).message;
  }
  return '';
}

describe('a fault planted in the rules is found by the invariants', () => {
  const [counter, guessing, crossing] = [
    ALONE['a counter of three']!,
    ALONE['a counter of three who guess']!,
    ALONE['each writes where another reads']!,
  ];
  const PLANTED: readonly [
    what: string,
    plans: readonly Plan[],
    rules: Partial<Rules>,
    says: RegExp,
    processes?: number,
  ][] = [
    ['nobody waits', counter, { isClear: () => true }, /has read what|is not done yet/],
    [
      'who reads does not wait for who writes',
      counter,
      { isClear: (isClear, _, __, claims) => isClear || claims.every((claim) => claim[0] === 'r') },
      /has read what/,
    ],
    [
      'who writes does not wait for who reads',
      crossing,
      {
        isClear: (isClear, view, epoch, claims) =>
          isClear ||
          view.say({ is: 'enter', epoch, claims: claims.map((claim) => `r${claim[1]}` as 'rx') })
            .outcome === true,
      },
      /has read, which is younger|has read what|is not done yet/,
    ],
    ['everybody waits for ever', counter, { isClear: () => false }, /nobody who is older is there/],
    [
      'who is older waits for who is younger',
      [commit(act('x')), commit(act('x', held))],
      { isClear: (isClear, view, epoch) => isClear && view.claimsOf(epoch + 1) === undefined },
      /nobody who is older is there/,
    ],
    [
      'who comes too late goes on',
      ALONE['two that come to claim what the other has']!,
      { isLate: () => false },
      /which is younger|is not done yet/,
    ],
    ['what was guessed is not read again', guessing, { hasChanged: () => false }, /has read what/],
    [
      'what is read is not claimed',
      crossing,
      { claims: (claims) => claims.filter((claim) => claim[0] === 'w') },
      /has read/,
    ],
    [
      'a pattern is claimed as one of what it means',
      [fail(act('*')), commit(act('y'))],
      { claims: (claims) => claims.map((claim) => (claim === 'w*' ? 'wx' : claim)) },
      /which is younger|is not done yet|has read/,
    ],
    [
      'claims are free with the commit',
      counter,
      { isFree: ({ phase }) => phase === 'committed' },
      /has read what|which is younger|is not done yet/,
    ],
    [
      'claims are free before all is undone',
      ALONE['a pattern, and what is in it']!,
      { isFree: ({ phase }) => phase === 'aborting' },
      /has read what|which is younger|is not done yet/,
    ],
    [
      'what waits for a person is free',
      [commit(act('x', heldBlind)), commit(act('x', held))],
      { kept: () => [] },
      /is not done yet/,
    ],
    [
      'who has lost its lease is not fenced',
      IN_TWO['a counter']!,
      { isFenced: false },
      /is there|has read|which is younger|is not done yet|can't be undone/,
      2,
    ],
    [
      'a call is not over when the lease is, at a sink without keys',
      IN_TWO['what is undone in one, and done in the other']!,
      { comesLate: () => true },
      /has happened twice|is there|which is younger/,
      2,
    ],
  ];

  test.each(PLANTED)('%s', (_, plans, rules, says, processes = 1) => {
    const troubles = processes === 1 ? TROUBLES : MEMBERS;
    expect(found(plans, troubles, { ...RULES, ...rules }, processes)).toMatch(says);
  });
});

/** A view of live work with something planted in its coordinator. */
function coordinating(plant: (coordinator: Coordinator) => Partial<Coordinator>): Rules['shared'] {
  return (fence, last) => {
    const shared = new SharedWork(fence, last);
    Object.assign(shared.coordinator, plant(shared.coordinator));
    return shared;
  };
}

function sharing(plant: (shared: SharedWork) => Partial<SharedWork>): Rules['shared'] {
  return (fence, last) => {
    const shared = new SharedWork(fence, last);
    return Object.assign(shared, plant(shared));
  };
}

/** Unresolved work still blocks. */
function leavingLive(shared: SharedWork): Partial<SharedWork> {
  const { coordinator } = shared;
  return {
    park: (epoch, kept) => {
      Object.assign(coordinator, { end: () => undefined });
      SharedWork.prototype.park.call(shared, epoch, kept);
      Object.assign(coordinator, { end: Coordinator.prototype.end });
    },
  };
}

describe('a fault planted in the coordinator is found by a full check', () => {
  const expanding = ALONE['two that come to claim what the other has']!;
  const releasing = ALONE['one that gives up what it has read']!;
  const late = IN_TWO['one that comes to claim what the other has']!;
  const untold = IN_TWO['what nobody can tell']!;
  const original = Coordinator.prototype;
  const PLANTED: readonly [
    what: string,
    plans: readonly Plan[],
    shared: Rules['shared'],
    processes?: number,
  ][] = [
    ['everybody may act', releasing, coordinating(() => ({ tryAcquire: () => true }))],
    ['nobody is seen to act', expanding, coordinating(() => ({ recordAct: () => undefined }))],
    ['who comes to claim does not', expanding, coordinating(() => ({ claim: () => undefined }))],
    [
      'who comes too late is let',
      expanding,
      coordinating((it) => ({ expand: (work, claims) => void it.claim(work, claims) })),
    ],
    ['what is given up is kept', releasing, coordinating(() => ({ release: () => undefined }))],
    ['what has ended holds others up', releasing, coordinating(() => ({ end: () => undefined }))],
    [
      'what was found in the log holds nobody up',
      releasing,
      coordinating((it) => ({ resume: (epoch) => original.resume.call(it, epoch, []) })),
    ],
    [
      'what another has started is not taken for done',
      late,
      sharing((it) => ({
        register: (epoch, fence, claims) =>
          SharedWork.prototype.register.call(it, epoch, fence, claims, true),
      })),
      2,
    ],
    [
      'what came too late is given up twice',
      [
        { ...commit(act('x', held), { expands: ['wx', 'wy'] }), claims: ['wx'] },
        { ...commit(act('y', queryable)), by: 1 },
      ],
      sharing((it) => ({
        claim: (epoch, claims) => {
          const stale = SharedWork.prototype.claim.call(it, epoch, claims);
          if (stale !== undefined) it.release(epoch, claims);
          return stale;
        },
      })),
      2,
    ],
    [
      'nobody goes on with what was another’s',
      late,
      sharing(() => ({ reassign: () => undefined })),
      2,
    ],
    [
      'what waits for a person is free',
      untold,
      sharing((it) => ({ park: (epoch) => SharedWork.prototype.park.call(it, epoch, []) })),
      2,
    ],
    [
      'what waits for a person keeps all',
      [commit(act('x', heldBlind), act('y')), commit(act('x'))],
      sharing((it) => ({ park: (epoch) => SharedWork.prototype.park.call(it, epoch) })),
    ],
    ['what waits for a person holds others up', untold, sharing(leavingLive), 2],
    ['nobody goes on with what was left', untold, sharing(() => ({ adopt: () => false })), 2],
  ];

  test.each(PLANTED)('%s', (_, plans, shared, processes = 1) => {
    const troubles = processes === 1 ? TROUBLES : MEMBERS;
    expect(found(plans, troubles, { ...RULES, shared }, processes)).toMatch(/naively/);
  });

  test.each([
    ['who waits is not woken', () => new Promise<void>(() => undefined)],
    ['who waits is woken immediately', () => Promise.resolve()],
  ])('%s', async (_, whenClear) => {
    const { views: all } = explore(releasing, [NONE]);
    await expect(all.checkWaking(coordinating(() => ({ whenClear })))).rejects.toThrow(/woken by/);
  });
});
