import type { Mode } from './modes.ts';
import { seededFraction } from './seeded-random.ts';

/**
 * The fault of a call. `exception`: it throws before it does anything. `lost`: the call is
 * executed, and the answer is lost. `torn`: a part of the call is executed, and the answer is lost.
 * Only an environment that defines the part has this fault (`Environment.tear`).
 */
export type FaultKind = 'exception' | 'lost' | 'torn';
export type Fault = 'none' | FaultKind;

/** The kinds of faults in a mode. The same calls are hit in all modes. */
export interface Profile {
  readonly name: 'both' | 'paper';
  /** For the title of a table. */
  readonly title: string;
  /** For its notes. */
  readonly about: string;
  readonly kinds: (mode: Mode) => readonly FaultKind[];
}

/** Our own setting: the same faults, of all kinds, in all modes. */
export const BOTH: Profile = {
  name: 'both',
  title: 'the same faults in all modes',
  about: 'Exceptions and lost responses, half of the faults each, the same ones in all modes.',
  kinds: () => ['exception', 'lost'],
};

/** The paper's own (A.2). */
export const PAPER: Profile = {
  name: 'paper',
  title: 'faults as in the paper',
  about: 'Faults as in A.2: exceptions, and for No-Tx lost responses instead.',
  kinds: ({ name }) => (name === 'No-Tx' ? ['lost'] : ['exception']),
};

/** Tables are made under each of them. */
export const PROFILES: readonly Profile[] = [BOTH, PAPER];

/** The fault of an attempt of a step of a task, counted from 0. */
export type Schedule = (task: string, step: number, attempt: number) => Fault;

export interface ScheduleOptions {
  readonly seed: number;
  /** Of all calls, how many are hit, from 0 to 1. */
  readonly rate: number;
  readonly kinds: readonly FaultKind[];
}

/**
 * One schedule for all modes. Only the task, the step and the attempt decide whether a call is hit.
 * All kinds are equally likely.
 */
export function scheduleOf({ seed, rate, kinds }: ScheduleOptions): Schedule {
  return (task, step, attempt) => {
    if (seededFraction('fault', seed, task, step, attempt) >= rate) return 'none';
    const kind = Math.floor(seededFraction('kind', seed, task, step, attempt) * kinds.length);
    return kinds[kind] ?? 'none';
  };
}
