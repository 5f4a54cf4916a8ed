import { arg, checkArgument } from 'assize/internal/base';
import { TABLES, type Table } from '../isolation/index.ts';
import { ExperimentError } from './errors.ts';

/**
 * The next step of a transaction, in the alphabet Σ⁺ of §2.1, with predicate reads. An item is a
 * row, `policy:active` or, of the facts, just `x`. A scan reads all rows of a table. A judge is
 * asked about a read set under θ, and both form the key of the log's row. Without θ no vote is
 * logged. A transaction begins with its first step.
 */
export type Step = { readonly tx: number } & (
  | { readonly kind: 'read'; readonly item: string }
  | { readonly kind: 'scan'; readonly table: Table }
  | { readonly kind: 'write'; readonly item: string; readonly value?: Value }
  | { readonly kind: 'judge'; readonly key: string; readonly isLogged: boolean }
  | { readonly kind: 'callback'; readonly handle: string }
  | { readonly kind: 'commit' | 'abort' }
);

/**
 * The written value: a number, or a function of the values that the transaction has seen. If the
 * function returns undefined, no write occurs.
 */
export type Value = number | ((seen: ReadonlyMap<string, number>) => number | undefined);

/** Steps in the order of their requests. The level decides which steps are executed, and when. */
export type Schedule = readonly Step[];

/**
 * The schedule of a string in the paper's notation:
 * `r1[x] r1[policy:*] w2[policy:new] j1(R,θ) j1(R) cb1(h) c2 a1`.
 * @throws ExperimentError `bad_schedule`
 */
export function schedule(text: string): Schedule {
  checkArgument(arg.text, text, 'text');
  return text
    .split(' ')
    .filter((part) => part !== '')
    .map((part) => {
      const [, letter = '', tx = '', item, key] = STEP.exec(part) ?? [];
      const step = stepOf(letter, Number(tx), item, key);
      if (step === undefined)
        throw new ExperimentError(
          'bad_schedule',
          `${JSON.stringify(part)} is not a step of a schedule.`,
          {
            evidence: { text, at: part },
          },
        );
      return step;
    });
}

/** In which table a row is. */
export function tableOf(item: string): Table {
  const table = item.slice(0, Math.max(0, item.indexOf(':')));
  return TABLES.find((one) => one === table) ?? 'facts';
}

/** The row of the judge log, or of the callback log, that a key or a handle has. */
export function judgeRow(key: string): string {
  return `judge_log:${key}`;
}

export function callbackRow(handle: string): string {
  return `callback_log:${handle}`;
}

const STEP = /^(r|w|j|cb|c|a)([1-9][0-9]*)(?:\[([^\][()]+)\])?(?:\(([^\][()]+)\))?$/;

function stepOf(
  letter: string,
  tx: number,
  item: string | undefined,
  key: string | undefined,
): Step | undefined {
  if (item !== undefined && key === undefined && letter === 'r') {
    const table = TABLES.find((one) => item === `${one}:*`);
    return table === undefined ? { tx, kind: 'read', item } : { tx, kind: 'scan', table };
  }
  if (item !== undefined && key === undefined && letter === 'w') return { tx, kind: 'write', item };
  if (item === undefined && key !== undefined && letter === 'j')
    return { tx, kind: 'judge', key, isLogged: key.includes(',') };
  if (item === undefined && key !== undefined && letter === 'cb')
    return { tx, kind: 'callback', handle: key };
  if (item === undefined && key === undefined && letter === 'c') return { tx, kind: 'commit' };
  return item === undefined && key === undefined && letter === 'a'
    ? { tx, kind: 'abort' }
    : undefined;
}
