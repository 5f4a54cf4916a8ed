import { expect } from 'vitest';
import type { Question as BelievedQuestion } from '#memory';
import { createOracle, oracleKey, type Question } from '#oracle';
import type { Assize, Trajectory } from '#runtime';
import type { Store } from '#stores';
import { HandClock, intent, runtimeOver, writFor } from '../ledger/runtime.ts';
import { clinic } from './clinic.ts';
import { committed, WHO } from './mentions-of-patient.ts';

/** Answers about the patient, in every way in which the oracle log may have them. */
export const ANSWERS: readonly string[] = [
  ...['observed by key', 'of a proposal refused', 'named by nobody', 'a model that was wrong'],
  'too late to be a vote',
];

/** Attempts that became no answer, and are stored nowhere at any time. */
export const ATTEMPTS: readonly string[] = ['a judge in despair', 'a vote for the moon'];

/** Answers about another patient, or in another trajectory or space. */
export const OTHERS: readonly string[] = [
  'of p9 alone',
  'in another trajectory',
  'in another space',
];

const writ = writFor('nurse');

export interface Answered {
  readonly assize: Assize;
  readonly trajectory: Trajectory;
  /** The questions, by the text of their answers. */
  readonly asked: ReadonlyMap<string, Question>;
  /** The questions to the judge, by key. The judge failed at the first two. */
  readonly judged: readonly string[];
  /** Of the vote that stands. */
  readonly vote: string;
  /** Of one by which nothing was changed. */
  readonly unused: string;
}

/** Asks for all of it, in a store of its own. */
export async function answered(store: Store): Promise<Answered> {
  const clock = new HandClock();
  const oracle = createOracle({ store, clock, mode: 'record' });
  const votes: (() => string)[] = [
    () => {
      throw new Error(`a judge in despair about the flu`);
    },
    () => 'a vote for the moon, and not for the flu',
  ];
  const judged: string[] = [];
  const choose = ({ request, members }: BelievedQuestion): string => {
    judged.push(
      oracleKey({ scope: { kind: 'memory', space: 'ward' }, request: { judge: request } }),
    );
    return votes.shift()?.() ?? members[0]!.claim;
  };
  const assize = runtimeOver(store, [clinic], {
    ports: { clock },
    oracle: store,
    memory: { judge: { oracle, choose } },
  });
  const trajectory = (await assize.create(clinic, {
    trajectoryId: 't',
    writs: [writ],
  })) as Trajectory;
  const memory = trajectory.memory({ space: 'ward', writ });
  const asked = new Map<string, Question>();
  let ordinal = 0;
  const ask = async (text: string, scope: object, about = WHO) => {
    const question = { scope, request: { about: text } } as Question;
    asked.set(text, question);
    const { value, oracle_key } = await oracle.consult({
      ...question,
      call: () => ({ facts: [about, text] }),
    });
    return { observations: [{ name: 'extraction', value, oracle_key }] };
  };
  const by = (trajectory = 't') => ({
    kind: 'call',
    trajectory,
    branch: null,
    agent: 'a',
    ordinal: ordinal++,
  });
  const said = (object: string, subject = WHO) => ({ subject, predicate: 'allergy', object });

  await committed(memory.assert(said('nuts'), await ask('observed by key', by(), 'she')));
  // As a model proposes it: a memory would refuse it before it is on record.
  const eggs = { ...said('eggs'), verb: 'assert', space: 'ward', confidence: 7 };
  const believe = intent('assize.believe', { sayings: [eggs] }, writ);
  const wrong = await trajectory.propose({
    ...believe,
    ...(await ask('of a proposal refused', by(), 'she')),
  });
  expect(wrong).toMatchObject({ ruling: 'rejected' });
  await ask('named by nobody', by());
  const agent = {
    kind: 'call',
    trajectory: 't',
    branch: null,
    agent: 'assize.extraction',
    ordinal: 0,
  };
  await ask('a model that was wrong', agent);
  await committed(memory.assert(said('cats', 'p9'), await ask('of p9 alone', by(), 'p9')));
  await ask('in another trajectory', by('u'));
  await ask('in another space', { kind: 'memory', space: 'other' });
  await ask('too late to be a vote', { kind: 'memory', space: 'ward' });

  const triage = (object: string) => memory.assert({ subject: WHO, predicate: 'triage', object });
  await committed(triage('red'));
  for (const reason of [undefined, 'unknown_member']) {
    const failed = triage('green');
    await expect(failed).rejects.toThrow();
    if (reason !== undefined) await expect(failed).rejects.toMatchObject({ reason });
  }
  await committed(triage('green'));
  const { facts } = await memory.recall({
    subject: WHO,
    valid: 'any',
    system: 'any',
    kind: 'audit',
  });
  const unused = {
    scope: { kind: 'memory', space: 'ward' },
    request: { judge: 'unused' },
  } as const;
  await oracle.ask({ ...unused, call: () => facts[0]!.lineage });
  const vote = (JSON.parse(facts[0]!.object) as { judge: string }).judge;
  return { assize, trajectory, asked, judged, vote, unused: oracleKey(unused) };
}

export function keyIn(asked: Answered['asked'], text: string): string {
  return oracleKey(asked.get(text) as Question);
}
