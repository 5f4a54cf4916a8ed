/** The calls and callbacks of the public surface that a run has not reached. */
import * as agents from '../../../packages/agents/src/public/agents.ts';
import * as chat from '../../../packages/agents/src/public/chat.ts';
import * as effects from '../../../packages/assize/src/public/effects.ts';
import * as index from '../../../packages/assize/src/public/index.ts';
import * as memory from '../../../packages/assize/src/public/memory.ts';
import * as stores from '../../../packages/assize/src/public/stores.ts';
import * as audit from '../../../packages/audit/src/public/audit.ts';
import { callsOf } from '../bad-input/surface.ts';
import { CALLBACK_NAMES } from './callbacks.ts';
import type { Hands } from './hands.ts';

/** All exports but those of `@assize/testing`: these run in a test suite of the caller. */
const PUBLIC: Readonly<Record<string, unknown>> = {
  ...index,
  ...effects,
  ...memory,
  ...chat,
  ...agents,
  ...audit,
  ...stores,
};

/** Exported values that are not functions. */
export const CONSTANTS = Object.entries(PUBLIC).filter(
  ([, exported]) => typeof exported === 'object',
);

const INTERNAL = 'for the runtime itself (@internal)';
const WRITES = 'takes rows and returns none';
const OWN = 'the store belongs to the program that opens it';

/** Functions and methods that a run does not call, each with the reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  'Assize.background': INTERNAL,
  'Assize.complete': INTERNAL,
  'Assize.domainAt': INTERNAL,
  'Assize.namesToReview': INTERNAL,
  'Assize.erasures': INTERNAL,
  'Assize.findExpiries': INTERNAL,
  'Assize.isHaltedAt': INTERNAL,
  'Assize.readHead': INTERNAL,
  'Assize.readState': INTERNAL,
  'Assize.requireClock': INTERNAL,
  'Assize.rulingAt': INTERNAL,
  'Delegations.complete': INTERNAL,
  'Delegations.hasBegun': INTERNAL,
  'Memory.lostOf': INTERNAL,
  'MemoryView.lostOf': INTERNAL,
  'Store.archiveEntries': 'needs an archive, and returns numbers and a new text',
  'Store.archiveState': 'reads the table again at each call',
  'Store.acquireWriteLock': 'returns a function',
  'Store.close': 'returns nothing',
  'Store.copyInto': 'returns a boolean',
  'Store.dropSnapshots': WRITES,
  'Store.follow': 'returns a function',
  'Store.integrate': WRITES,
  'Store.joinEffects': 'the runtime holds the only membership',
  'Store.keepFacts': 'returns a boolean',
  'Store.leaseEffects': 'the runtime holds the only lease',
  'Store.logEffects': WRITES,
  'Store.oraclePut': WRITES,
  'Store.putSnapshot': WRITES,
  'Store.putVectors': WRITES,
  'Store.readInParallel': 'the checks read with it',
  'Store.rebuildFacts': WRITES,
  'Store.requireInPlace': 'returns nothing',
  'Store.requireSeals': 'returns a boolean',
  'Store.requireSpace': 'returns nothing',
  'Store.retire': 'returns nothing',
  'Store.sealEntries': 'returns a number',
  'Store.sealState': 'returns a text',
  'Store.sidePut': 'returns a boolean',
  'Store.scrub': 'returns nothing',
  'Store.time': 'returns a text',
  'Store.vacuum': 'returns nothing',
  'Trajectory.adoptHalt': INTERNAL,
  'Trajectory.completeDelegations': INTERNAL,
  'Trajectory.refresh': 'returns nothing',
  'Trajectory.reload': INTERNAL,
  'Trajectory.withTurn': INTERNAL,
  'TrajectoryWrits.adopt': INTERNAL,
  'TrajectoryWrits.complete': INTERNAL,
  chatDomain: 'returns a domain, as `defineDomain` does',
  chatMemory: 'hands out copies of what the memory hands out',
  createAssize: OWN,
  defineConfig: 'returns its argument',
  estimateTokens: 'returns a number',
  httpWitness: 'needs a server, and hands out texts',
  instantOf: 'returns a text',
  openSqlite: OWN,
  simulate: 'reads the source, and hands out only what it made in a store of its own',
  openStore: OWN,
};

export function unreachedFunctions({ reached }: Hands): readonly string[] {
  const functions = Object.entries(PUBLIC).flatMap(([name, exported]) => callsOf(name, exported));
  return functions.filter(
    (name) => !/\.|^new /.test(name) && !reached.has(name) && !Object.hasOwn(EXEMPT, name),
  );
}

/** Methods of the objects that were handed out or made. */
export function unreachedMethods({ reached, classes }: Hands): readonly string[] {
  const calls = [...classes].flatMap(([name, made]) => callsOf(name, made));
  return calls.filter(
    (name) => name.includes('.') && !reached.has(name) && !Object.hasOwn(EXEMPT, name),
  );
}

export function unreachedCallbacks({ reached }: Hands): readonly string[] {
  return CALLBACK_NAMES.filter((name) => !reached.has(name));
}
