import type { Mode } from './modes.ts';
import { seededFraction } from './seeded-random.ts';

/**
 * What goes wrong with a call. `exception`: it throws before anything was done. `lost`: it was done, and the answer is lost.
 * `torn`: a part of it was done, and the answer is lost; only where an environment says what a part is (`Environment.tear`).
 */
export type FaultKind = 'exception' | 'lost' | 'torn';
export type Fault = 'none' | FaultKind;

/** Which kinds of faults a mode has to live with. Which calls are hit is the same in all of them. */
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

/** One schedule for all modes: a call is hit or not by its task, its step and its try alone. Each kind is as likely. */
export function scheduleOf({ seed, rate, kinds }: ScheduleOptions): Schedule {
  return (task, step, attempt) => {
    if (seededFraction('fault', seed, task, step, attempt) >= rate) return 'none';
    const kind = Math.floor(seededFraction('kind', seed, task, step, attempt) * kinds.length);
    return kinds[kind] ?? 'none';
  };
}
