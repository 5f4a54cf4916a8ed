/**
 * A misspelled option would pass for an omitted one. So every public function of the runtime and
 * the stores refuses an unknown option by name, and changes nothing. The test tries each argument
 * that is an object, except data.
 */
import { AssizeError } from 'assize';
import { describe, expect, test } from 'vitest';
import type { Case, Exempt } from './bad-input/case.ts';
import { AUDIT, RUNTIME } from './bad-input/runtime.ts';
import { STORES } from './bad-input/stores.ts';

const DATA: Readonly<Record<string, string>> = {
  'Assize.create 0': 'a domain, checked when it was made',
  'Assize.upgrade 1': 'a domain, checked when it was made',
  'Trajectory.upgrade 0': 'a domain, checked when it was made',
  'Trajectory.slice 1': 'parameters of a role, whose schema the domain has',
  'Trajectory.sliceAt 2': 'parameters of a role, whose schema the domain has',
  'Trajectory.subscribe 1': 'parameters of a role, whose schema the domain has',
  'Memory.assert 0': 'what is said: the proposal of it is rejected, with the member’s name',
  'Memory.change 0': 'what is said: the proposal of it is rejected, with the member’s name',
  'Memory.correct 0': 'what is said: the proposal of it is rejected, with the member’s name',
  'Memory.retract 0': 'what is said: the proposal of it is rejected, with the member’s name',
  'MemoryView.diff 0': 'a point of both times',
  'MemoryView.diff 1': 'a point of both times',
  'MemoryView.explain 0': 'a fact, with all of its columns',
  'MemoryView.dependents 0': 'a fact, with all of its columns',
  'Assize.effects 1': 'no argument: the table has another query beside the first',
  'auditCheckpoints 1': 'a log: its origin and keys',
  'proveEntry 2': 'a log: its origin and keys',
  'readCheckpoint 1': 'a log: its origin and keys',
  'requireContinuation 0': 'a checkpoint',
  'digestOf 0': 'a proposal',
  'domainToRun 0': 'a domain',
  'domainToRun 1': 'the options of a whole replay; it reads two',
};

const isOfAPort = (name: string): boolean => /^(Temporary|Sqlite)Store\./.test(name);
const TRIED = Object.entries({ ...RUNTIME, ...AUDIT, ...STORES }).filter(
  (of): of is [string, Case] => !isExempt(of[1]) && !isOfAPort(of[0]),
);

describe('an option that there is not', () => {
  test.each(TRIED)('is refused by %s', async (name, { make }) => {
    const { args } = await make();
    for (const [i, given] of args.entries()) {
      if (!isPlain(given) || DATA[`${name} ${i}`] !== undefined) continue;
      const call = await make();
      const before = await call.watch?.();
      // Also one that is undefined: it was written all the same.
      for (const value of [1, undefined]) {
        const misspelled = { ...(call.args[i] as object), misspelled: value };
        const refused = await settled(() => call.call(...call.args.with(i, misspelled)));
        expect(refused, `${name} ${i}`).toBeInstanceOf(AssizeError);
        expect(String(refused), `${name} ${i}`).toContain('misspelled');
      }
      expect(await call.watch?.()).toBe(before);
    }
  });

  test('is left to no function that there is not', () => {
    const arguments_ = TRIED.flatMap(([name]) => [0, 1, 2, 3].map((i) => `${name} ${i}`));
    expect(Object.keys(DATA).filter((name) => !arguments_.includes(name))).toEqual([]);
  });
});

function isExempt(one: Case | Exempt): one is Exempt {
  return 'exempt' in one;
}

function isPlain(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

/** The thrown error, also from reading a generator. */
async function settled(call: () => unknown): Promise<unknown> {
  try {
    const answer = await call();
    if (typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer)
      for await (const _ of answer as AsyncIterable<unknown>);
    return undefined;
  } catch (error) {
    return error;
  }
}
