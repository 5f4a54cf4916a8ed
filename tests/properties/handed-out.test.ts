/**
 * Everything that the library hands out is frozen or a copy. A vandal tries to change every object
 * that a public call returns or passes to a callback. Ledgers, states and later answers must equal
 * those of a run without the vandal.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { LastingMemory } from '../support/ledger/lasting-memory.ts';
import { Hands } from './handed-out/hands.ts';
import {
  CONSTANTS,
  unreachedCallbacks,
  unreachedFunctions,
  unreachedMethods,
} from './handed-out/reached.ts';
import { type Plan, plans, type Remains, story } from './handed-out/story.ts';
import { reachable } from './handed-out/vandal.ts';

const honest = new Hands(false);
const vandal = new Hands(true);
let left: Remains;
let spoilt: Remains;
beforeAll(async () => {
  const [plan] = fc.sample(plans, 1) as [Plan];
  const run = async (hands: Hands): Promise<Remains> => {
    const store = new LastingMemory();
    return story(hands, plan, { open: async () => store });
  };
  left = await run(honest);
  spoilt = await run(vandal);
});

describe('a vandal', () => {
  test('changes no later answer', () => {
    expect(vandal.firstDifference(honest)).toBeUndefined();
  });

  test('changes no entry and no state, also when the store is opened again', () => {
    expect(spoilt).toEqual(left);
    expect(left.statesAgain).toEqual(left.states);
  });

  test('leaves a ledger in which no check finds a fault', () => {
    expect(spoilt.faults).toEqual([]);
  });
});

test('two answers share no object that can be changed', () => {
  expect([...honest.shared]).toEqual([]);
});

test('the constants of the package are frozen', () => {
  expect(CONSTANTS.map(([name]) => name).sort()).toEqual([
    'CHAT_PREDICATES',
    'DERIVATIONS',
    'FRAMEWORKS',
    'STRATEGIES',
    'pass',
    'systemClock',
    'systemRandom',
  ]);
  for (const [, constant] of CONSTANTS)
    for (const object of reachable(constant)) expect(Object.isFrozen(object)).toBe(true);
});

describe('the run reaches', () => {
  test('every public function', () => {
    expect(unreachedFunctions(vandal)).toEqual([]);
  });

  test('every method of every object', () => {
    expect(unreachedMethods(vandal)).toEqual([]);
    expect([...vandal.classes.keys()].sort()).toEqual(CLASSES);
  });

  test('every callback', () => {
    expect(unreachedCallbacks(vandal)).toEqual([]);
  });
});

/** The classes of objects that a program gets, and of those that it makes for this run. */
const CLASSES = [
  'Approvals',
  'Assize',
  'Delegations',
  'Memory',
  'MemoryView',
  'Store',
  'Trajectory',
  'TrajectoryWrits',
  'Transaction',
];
